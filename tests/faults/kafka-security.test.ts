import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import { startRedis } from '../../tools/engines/start-redis.ts';
import { startSecuredKafka, type SecuredKafka } from '../../tools/engines/start-secured-kafka.ts';
import { startSecuredStores, type SecuredStores } from '../../tools/engines/start-secured-stores.ts';
import { startClusterStack } from '../../tools/stack/start-stack.ts';
import { createAccount, createTopic, openStackDocuments } from '../support/stack.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';

describeWithOwnEngines('Kafka with TLS and authentication', () => {
  const own = closers();
  let secured: SecuredKafka;
  let stores: SecuredStores;
  let env: Record<string, string>;
  beforeAll(async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tocsin-security-'));
    own.add(() => rmSync(dir, { recursive: true }));
    secured = await startSecuredKafka();
    own.add(() => secured.stop());
    stores = await startSecuredStores();
    own.add(() => stores.stop());
    // A process reads the CA of Redis's certificate at its start, and this process has already started.
    const redis = await startRedis();
    own.add(() => redis.stop());
    env = {
      KAFKA_BROKERS: secured.kafka.url,
      MONGO_URL: stores.mongo.url,
      REDIS_URL: redis.url,
      JWT_SECRET: 'a secret of the tests: 32 bytes or more',
      KAFKA_PARTITIONS: '1',
      KAFKA_TLS: 'on',
      KAFKA_TLS_CA_FILE: secured.caFile,
      DATA_DIR: dir,
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: secured.username,
      KAFKA_SASL_PASSWORD: secured.password,
    };
  }, 180_000);
  afterAll(() => own.closeAll(), 60_000);

  /** Opens the log like a service from its environment. */
  const open = (changed: Record<string, string>): Promise<Engine> =>
    openEngine(loadConfig({ ...env, ...changed }, '/nonexistent'), {
      clock: systemClock,
      log: openLogger('test', 'silent'),
    });

  test.each(['plain', 'scram-sha-256', 'SCRAM-SHA-512'])(
    'writes and reads records after a login with %s',
    async (mechanism) => {
      // On a loaded machine a Kafka that has just started may need more than the ten seconds.
      const engine = await eventually(() => open({ KAFKA_SASL_MECHANISM: mechanism, KAFKA_TOPIC: `by-${mechanism}` }));
      const topic = newTopic(newId());
      const message = newMessage(topic.id);
      const seen: string[] = [];
      try {
        await engine.eventLog.consume({
          group: 'readers',
          onBatch: async ({ records }) => void seen.push(...records.map(({ record }) => record.message.id)),
        });
        await engine.eventLog.append(0, { type: 'message', timestamp: message.timestamp, message }, topic.name);
        await eventually(() => expect(seen).toEqual([message.id]));
      } finally {
        await engine.close();
      }
    },
  );

  test('cannot be used otherwise, and the error gives the reason', async () => {
    const refused: [Record<string, string>, RegExp][] = [
      [{ KAFKA_SASL_PASSWORD: 'a guess' }, /[Aa]uthentication failed/],
      [{ KAFKA_SASL_MECHANISM: '', KAFKA_SASL_USERNAME: '', KAFKA_SASL_PASSWORD: '' }, /./],
      [{ KAFKA_TLS_CA_FILE: '' }, /certificate/],
      [{ KAFKA_TLS_CA_FILE: otherCa() }, /certificate/],
      [{ KAFKA_TLS: 'off', KAFKA_TLS_CA_FILE: '' }, /./],
    ];
    const inOrder: RegExp[] = [];
    await Promise.all(
      refused.map(async ([changed, why]) => {
        const error = await open(changed).then(
          () => undefined,
          (thrown: Error) => thrown.message,
        );
        inOrder.push(why);
        expect(error).toMatch(/^Kafka is unreachable at 127\.0\.0\.1:\d+: /);
        expect(error).toMatch(why);
      }),
    );
    // Transient errors are retried for ten seconds; a wrong password is reported immediately.
    expect(inOrder[0]).toBe(refused[0]![1]);
  });

  test('works in an installation whose MongoDB and Redis also use TLS and authentication', async () => {
    const began = Date.now();
    const stack = await startClusterStack({
      kafkaBrokers: env['KAFKA_BROKERS']!,
      mongoUrl: env['MONGO_URL']!,
      redisUrl: stores.redis.url,
      jwtSecret: env['JWT_SECRET']!,
      layout: 'single',
      env: {
        ...env,
        REDIS_URL: stores.redis.url,
        KAFKA_TOPIC: 'whole',
        NODE_EXTRA_CA_CERTS: stores.caFile,
        RETENTION_SCHEDULE: '1h',
      },
    });
    own.add(() => stack.stop());
    const [url] = stack.urls;
    await eventually(async () => {
      expect(await (await fetch(`${url}/health/ready`)).json()).toEqual({
        status: 'ok',
        parts: { log: 'ok', database: 'ok', queue: 'ok', bus: 'ok' },
      });
    });
    const readyMs = Date.now() - began;
    const documents = await openStackDocuments({ env: { ...stack.env, REDIS_URL: env['REDIS_URL']! } });
    own.add(() => documents.close());
    const account = await createAccount(documents, { urls: stack.urls });
    const { name } = await createTopic(account);
    const published = await account.client.call('POST', `/${name}`, { text: 'in secret' });
    expect(published.status).toBe(200);
    await eventually(async () => {
      const { body } = await account.client.call('GET', `/${name}/json?since=all`);
      expect(body.messages).toMatchObject([{ id: published.body.id, message: 'in secret' }]);
    });
    printMeasurements('secured installation', {
      readyMs,
      kafka: 'TLS, SASL',
      mongo: 'TLS, readWrite on its database',
      redis: 'TLS, ACL',
    });
  }, 150_000);

  function otherCa(): string {
    const file = join(env['DATA_DIR']!, 'other-ca.pem');
    writeFileSync(file, rootCertificates[0]!);
    return file;
  }
});
