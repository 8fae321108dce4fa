import { describe, expect, test } from '@jest/globals';
import { ConfigError, loadConfig } from './load-config.ts';

const none = '/nonexistent/.env';

describe('loadConfig', () => {
  test('an empty environment is an embedded installation that plays every role', () => {
    const config = loadConfig({}, none);
    expect(config.cluster).toBeUndefined();
    expect(config.ROLES).toEqual(['api', 'fanout', 'notifier', 'retention']);
    expect([config.HOST, config.PORT]).toEqual(['127.0.0.1', 8080]);
  });

  test('some of the three URLs is refused, naming what is missing', () => {
    expect(() => loadConfig({ KAFKA_BROKERS: 'k:9092', REDIS_URL: 'redis://r' }, none)).toThrow(/MONGO_URL missing/);
    expect(() => loadConfig({ MONGO_URL: 'mongodb://m' }, none)).toThrow(/KAFKA_BROKERS and REDIS_URL missing/);
  });

  test('a cluster needs a JWT secret of at least 32 bytes', () => {
    const urls = { KAFKA_BROKERS: 'a:1, b:2', MONGO_URL: 'mongodb://m', REDIS_URL: 'redis://r' };
    expect(() => loadConfig(urls, none)).toThrow(/JWT_SECRET missing/);
    expect(() => loadConfig({ ...urls, JWT_SECRET: 'short' }, none)).toThrow(/at least 32 bytes/);
    const config = loadConfig({ ...urls, JWT_SECRET: 'x'.repeat(32) }, none);
    expect(config.cluster?.kafkaBrokers).toEqual(['a:1', 'b:2']);
  });

  test('all faults are told at once', () => {
    const attempt = () => loadConfig({ PORT: 'eighty', RATE_LIMITS: 'maybe', ROLES: 'api,cook' }, none);
    expect(attempt).toThrow(ConfigError);
    expect(attempt).toThrow(/PORT.*\n.*ROLES.*\n.*RATE_LIMITS/s);
  });

  test('an empty variable counts as not set', () => {
    expect(loadConfig({ PORT: '' }, none).PORT).toBe(8080);
  });
});
