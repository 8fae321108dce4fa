import { afterEach, expect, test } from '@jest/globals';
import { Counter, Registry } from 'prom-client';
import { sinks, sinkTopics } from '@tocsin/shared/collections/sinks/sinks.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { History } from '@tocsin/shared/operations/messages/history.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { publish } from '@tocsin/shared/testing/test-engine.ts';
import { useTestEngine } from '@tocsin/shared/testing/use-test-engine.ts';
import { dueSink } from './due-sink.fixtures.ts';
import type { SinkRequest } from './sink-client.ts';
import { startSinks } from './start-sinks.ts';

const engine = await useTestEngine();
const closing = new AbortController();
afterEach(() => closing.abort());

test('receivers that never answer do not keep the sinks of others from sending', async () => {
  const { documents, messages } = engine;
  const topic = await documents.insert(topics, newTopic(newId()));
  await documents.insert(sinkTopics, { id: topic.id, head: -1 });
  const silent = 600;
  for (let count = 0; count < silent; count += 1) await documents.insert(sinks, dueSink(topic, { url: 'silent' }));
  await publish(engine, topic, newMessage(topic.id));
  // Due after all others.
  await documents.insert(sinks, dueSink(topic, { url: 'good', dueAt: Date.now() }));

  const requested: string[] = [];
  const { promise: never } = Promise.withResolvers<never>();
  startSinks({
    engine,
    history: new History(messages, systemClock),
    client: {
      post({ url }: SinkRequest) {
        requested.push(url);
        return url === 'silent' ? never : Promise.resolve({ kind: 'answer', status: 204, retryAfterMs: null });
      },
    },
    clock: systemClock,
    log: openLogger('test', 'silent'),
    makeId: newId,
    random: () => 0.5,
    baseUrl: 'http://127.0.0.1',
    requests: new Counter({
      name: 'requests',
      help: '-',
      labelNames: ['kind', 'outcome'],
      registers: [new Registry()],
    }),
    limits: { turnMs: 100, claimMs: 600_000, saveMs: 1_000 },
    closing: closing.signal,
  });
  await eventually(() => expect(requested).toContain('good'), { timeoutMs: 60_000 });
  expect(requested.filter((url) => url === 'silent')).toHaveLength(silent);
});
