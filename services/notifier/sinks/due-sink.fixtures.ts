import { newSink, type Sink } from '@tocsin/shared/domain/sinks/sink.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { makeWebhookSecret } from '@tocsin/shared/platform/secrets.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';

/** A sink of the topic's owner that is due, from the first record on. */
export function dueSink(topic: Pick<Topic, 'id' | 'ownerId'>, given: Partial<Sink> & Pick<Sink, 'url'>): Sink {
  const made = newSink(
    {
      id: newId(),
      topicId: topic.id,
      createdBy: topic.ownerId,
      name: 'tickets',
      kind: 'webhook',
      headers: {},
      filter: { priorityMin: null, priorityMax: null, tags: [], text: null },
      secret: makeWebhookSecret(),
      offset: 0,
      url: given.url,
    },
    1,
  );
  return { ...made, ...given };
}
