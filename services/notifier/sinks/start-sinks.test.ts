import { afterEach, expect, test } from '@jest/globals';
import { sinks, sinkTopics } from '@tocsin/shared/collections/sinks/sinks.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { publish } from '@tocsin/shared/testing/test-engine.ts';
import { useTestEngine } from '@tocsin/shared/testing/use-test-engine.ts';
import { dueSink } from './due-sink.fixtures.ts';
import type { SinkRequest } from './sink-client.ts';
import { sinkDeps } from './sink-deps.fixtures.ts';
import { startSinks } from './start-sinks.ts';

const engine = await useTestEngine();
const closing = new AbortController();
afterEach(() => closing.abort());

test('receivers that never answer do not keep the sinks of others from sending', async () => {
  const { documents } = engine;
  const topic = await documents.insert(topics, newTopic(newId()));
  await documents.insert(sinkTopics, { id: topic.id, head: -1 });
  const silent = 600;
  for (let count = 0; count < silent; count += 1) await documents.insert(sinks, dueSink(topic, { url: 'silent' }));
  await publish(engine, topic, newMessage(topic.id));
  // Due after all others.
  await documents.insert(sinks, dueSink(topic, { url: 'good', dueAt: Date.now() }));

  const requested: string[] = [];
  const { promise: never } = Promise.withResolvers<never>();
  startSinks(
    sinkDeps({
      engine,
      client: {
        post({ url }: SinkRequest) {
          requested.push(url);
          return url === 'silent' ? never : Promise.resolve({ kind: 'answer', status: 204, retryAfterMs: null });
        },
      },
      closing: closing.signal,
    }),
  );
  await eventually(() => expect(requested).toContain('good'), { timeoutMs: 60_000 });
  expect(requested.filter((url) => url === 'silent')).toHaveLength(silent);
});
