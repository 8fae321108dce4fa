import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import { startInstallation, type Installation } from './installation.ts';
import { kafkaOutages } from './kafka-outages.ts';
import { mongoOutages } from './mongo-outages.ts';

// One installation for all of these tests: each leaves it as it found it, and waits at its start until it serves.
describeWithOwnEngines('an installation whose engines fail', () => {
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
  kafkaOutages(faultTest);
  mongoOutages(faultTest);
});
