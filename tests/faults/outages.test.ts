import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import { startInstallation, type Installation } from './installation.ts';
import { kafkaOutages } from './kafka-outages.ts';
import { mongoOutages } from './mongo-outages.ts';

// One installation for all of these tests: each leaves it as it found it, and waits at its start until it serves.
describeWithOwnEngines('an installation whose engines fail', () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await startInstallation();
  }, 180_000);
  beforeEach(() => installation.serves(), 60_000);
  afterAll(() => installation?.stop(), 60_000);

  kafkaOutages(() => installation);
  mongoOutages(() => installation);
});
