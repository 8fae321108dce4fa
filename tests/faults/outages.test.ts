import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import { startInstallation, type Installation } from './installation.ts';
import { clockJumps } from './clock-jumps.ts';
import { kafkaOutages } from './kafka-outages.ts';
import { mongoOutages } from './mongo-outages.ts';
import { redisOutages } from './redis-outages.ts';
import { reconnectStorm } from './reconnect-storm.ts';
import { serverKills } from './server-kills.ts';
import { serverRestarts } from './server-restarts.ts';

// All of these tests share one installation: each restores it, and waits at its start until it serves.
describeWithOwnEngines('an installation', () => {
  let installation: Installation;
  /** Resources that close with the test, whatever its result. */
  let own: Closers;
  beforeAll(async () => {
    installation = await startInstallation();
  }, 180_000);
  beforeEach(async () => {
    own = closers();
    await installation.serves();
  });
  afterEach(() => own.closeAll(), 60_000);
  afterAll(() => installation?.stop(), 60_000);

  const faultTest = () => ({ ...installation, own });
  describe('with failing engines', () => {
    let pids: readonly number[];
    beforeAll(() => {
      pids = installation.pids();
    });
    afterEach(() => {
      expect(installation.pids()).toEqual(pids); // no process was restarted
    });
    redisOutages(faultTest);
    kafkaOutages(faultTest);
    mongoOutages(faultTest);
  });
  describe('with jumping clocks', () => clockJumps(faultTest));
  describe('with ending servers', () => {
    serverRestarts(faultTest);
    serverKills(faultTest);
    reconnectStorm(faultTest);
  });
});
