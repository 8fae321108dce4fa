import { describe, test } from '@jest/globals';

/** Where the tests find real engines. Shared with other runs: every test takes names of its own and flushes nothing. */
export type TestEngines = {
  /** `host:port`, comma-separated. */
  kafkaBrokers: string;
  mongoUrl: string;
  redisUrl: string;
};

const variables = { kafkaBrokers: 'TEST_KAFKA_BROKERS', mongoUrl: 'TEST_MONGO_URL', redisUrl: 'TEST_REDIS_URL' } as const;

/** The engines that the environment names: all three, or `undefined` when none is set. Some without the others throws. */
export const testEngines = (env: NodeJS.ProcessEnv = process.env): TestEngines | undefined => {
  const missing = Object.values(variables).filter((name) => !env[name]);
  if (missing.length === 3) return undefined;
  if (missing.length > 0) throw new Error(`The test engines come as three URLs; missing: ${missing.join(', ')}`);
  return {
    kafkaBrokers: env[variables.kafkaBrokers]!,
    mongoUrl: env[variables.mongoUrl]!,
    redisUrl: env[variables.redisUrl]!,
  };
};

const howToStart = `set ${Object.values(variables).join(', ')}, or run them through \`npm test\``;

/**
 * A Jest `describe` for tests that need the real engines. Without them it is skipped and its name says why;
 * with `CI=true` it fails instead, because a suite that tested nothing must not look green.
 */
export const describeWithEngines = (name: string, body: (engines: TestEngines) => void): void => {
  const engines = testEngines();
  if (engines) {
    describe(name, () => body(engines));
  } else if (process.env.CI === 'true') {
    describe(name, () => {
      test('has its engines', () => {
        throw new Error(`No engines: ${howToStart}`);
      });
    });
  } else {
    describe.skip(`${name} (skipped, no engines: ${howToStart})`, () => {
      test('needs engines', () => {});
    });
  }
};
