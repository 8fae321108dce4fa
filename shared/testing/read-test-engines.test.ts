import { expect, test } from '@jest/globals';
import { readTestEngines } from './read-test-engines.ts';

const env = {
  TEST_KAFKA_BROKERS: '127.0.0.1:9092',
  TEST_MONGO_URL: 'mongodb://127.0.0.1:27017',
  TEST_REDIS_URL: 'redis://127.0.0.1:6379',
};

test('three URLs in the environment are the engines', () => {
  expect(readTestEngines(env)).toEqual({
    kafkaBrokers: '127.0.0.1:9092',
    mongoUrl: 'mongodb://127.0.0.1:27017',
    redisUrl: 'redis://127.0.0.1:6379',
  });
});

test('an environment that names none has no engines', () => {
  expect(readTestEngines({})).toBeUndefined();
});

test('a part of the engines is an error that names the missing ones', () => {
  expect(() => readTestEngines({ ...env, TEST_MONGO_URL: '', TEST_REDIS_URL: undefined })).toThrow(
    'missing: TEST_MONGO_URL, TEST_REDIS_URL',
  );
});
