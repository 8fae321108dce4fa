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

// One installation for all of these tests: each leaves it as it found it, and waits at its start until it serves.
describeWithOwnEngines('an installation', () => {
  let installation: Installation;
  /** What ends with the test, however it comes out. */
  let own: Closers;
  beforeAll(async () => {
    installation = await startInstallation();
  }, 180_000);
  beforeEach(async () => {
    own = closers();
    await installation.serves();
  }, 60_000);
  afterEach(() => own.closeAll(), 60_000);
  afterAll(() => installation?.stop(), 60_000);

  const faultTest = () => ({ ...installation, own });
  describe('whose engines fail', () => {
    let pids: readonly number[];
    beforeAll(() => {
      pids = installation.pids();
    });
    afterEach(() => {
      expect(installation.pids()).toEqual(pids); // nothing has ended and come again
    });
    redisOutages(faultTest);
    kafkaOutages(faultTest);
    mongoOutages(faultTest);
  });
  describe('whose clocks jump', () => clockJumps(faultTest));
  describe('whose servers end', () => {
    serverRestarts(faultTest);
    serverKills(faultTest);
    reconnectStorm(faultTest);
  });
});
