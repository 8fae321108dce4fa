import type { Sink } from '@tocsin/shared/domain/sinks/sink.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { makeWebhookSecret } from '@tocsin/shared/platform/secrets.ts';
import type { New } from '@tocsin/shared/ports/documents.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';

/** A sink of the topic's owner that is due, from the first record on. */
export function newSink(topic: Pick<Topic, 'id' | 'ownerId'>, given: Partial<Sink> & Pick<Sink, 'url'>): New<Sink> {
  return {
    id: newId(),
    topicId: topic.id,
    createdBy: topic.ownerId,
    name: 'tickets',
    kind: 'webhook',
    headers: {},
    filter: { priorityMin: null, priorityMax: null, tags: [], text: null },
    secret: makeWebhookSecret(),
    createdAt: 1,
    state: 'active',
    stateReason: null,
    offset: 0,
    revision: 1,
    attempts: 0,
    failingSince: null,
    delivered: 0,
    skipped: 0,
    testAt: null,
    isIdle: false,
    dueAt: 1,
    claim: null,
    ...given,
  };
}
