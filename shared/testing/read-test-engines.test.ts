import { expect, test } from '@jest/globals';
import { readTestEngines } from './read-test-engines.ts';

const env = {
  TEST_KAFKA_BROKERS: '127.0.0.1:9092',
  TEST_MONGO_URL: 'mongodb://127.0.0.1:27017',
  TEST_REDIS_URL: 'redis://127.0.0.1:6379',
};

test('reads the engines from three variables', () => {
  expect(readTestEngines(env)).toEqual({
    kafkaBrokers: '127.0.0.1:9092',
    mongoUrl: 'mongodb://127.0.0.1:27017',
    redisUrl: 'redis://127.0.0.1:6379',
  });
});

test('returns undefined without variables', () => {
  expect(readTestEngines({})).toBeUndefined();
});

test('throws for an incomplete set and names the missing variables', () => {
  expect(() => readTestEngines({ ...env, TEST_MONGO_URL: '', TEST_REDIS_URL: undefined })).toThrow(
    'missing: TEST_MONGO_URL, TEST_REDIS_URL',
  );
});
