/**
 * The engines of tests. Several test runs share them, so every test uses unique names and deletes only its own data.
 */
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
 * Returns the engines of the environment, or `undefined` if none is set. Throws for an incomplete set.
 */
export const readTestEngines = (env: NodeJS.ProcessEnv = process.env): TestEngines | undefined => {
  const missing = Object.values(variables).filter((name) => !env[name]);
  if (missing.length === 3) return undefined;
  if (missing.length > 0) throw new Error(`The test engines need three URLs; missing: ${missing.join(', ')}`);
  return {
    kafkaBrokers: env[variables.kafkaBrokers]!,
    mongoUrl: env[variables.mongoUrl]!,
    redisUrl: env[variables.redisUrl]!,
  };
};

/** A hint for messages about missing engines. */
export const testEnginesHint = `set ${Object.values(variables).join(', ')}, or run them through \`npm test\``;
