/** Where the tests find real engines. Shared with other runs: every test takes names of its own and flushes nothing. */
export type TestEngines = {
  /** `host:port`, comma-separated. */
  kafkaBrokers: string;
  mongoUrl: string;
  redisUrl: string;
};

const variables = {
  kafkaBrokers: 'TEST_KAFKA_BROKERS',
  mongoUrl: 'TEST_MONGO_URL',
  redisUrl: 'TEST_REDIS_URL',
} as const;

/**
 * The engines that the environment names: all three, or `undefined` when none is set. Some without the others throws.
 */
export const readTestEngines = (env: NodeJS.ProcessEnv = process.env): TestEngines | undefined => {
  const missing = Object.values(variables).filter((name) => !env[name]);
  if (missing.length === 3) return undefined;
  if (missing.length > 0) throw new Error(`The test engines come as three URLs; missing: ${missing.join(', ')}`);
  return {
    kafkaBrokers: env[variables.kafkaBrokers]!,
    mongoUrl: env[variables.mongoUrl]!,
    redisUrl: env[variables.redisUrl]!,
  };
};

/** For messages: what to do when there are none. */
export const howToGiveTestEngines = `set ${Object.values(variables).join(', ')}, or run them through \`npm test\``;
