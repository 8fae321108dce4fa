import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { endEscalation } from '@tocsin/shared/domain/escalation/escalation-state.ts';
import { hasEscalation } from '@tocsin/shared/domain/messages/message.ts';
import { newEscalation, policyFor, timesOf } from '@tocsin/shared/operations/escalation/escalation-times.ts';
import { openEscalation } from '@tocsin/shared/operations/escalation/open-escalation.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { makeSecret } from '@tocsin/shared/platform/secrets.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { escalations } from '@tocsin/shared/collections/escalation/escalations.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';

/** Concurrent inserts. */
const insertsMax = 50;
/** IDs per lookup. */
const topicsAtOnce = 1_000;

interface OpenDeps {
  readonly documents: Documents;
  readonly clock: () => number;
}

/**
 * Stores an escalation for each published message of the records that has one. They are stored when it resolves, so
 * that the batch can be committed; a repeated batch changes nothing. An escalation begins now: if the notifier was
 * down, the first push goes out now.
 */
export async function openEscalations({ documents, clock }: OpenDeps, records: readonly LogRecord[]): Promise<void> {
  const opening = records.filter(({ type, message }) => type === 'message' && hasEscalation(message));
  for (let at = 0; at < opening.length; at += topicsAtOnce) {
    const some = opening.slice(at, at + topicsAtOnce).map(({ message }) => message);
    const found = await documents.getMany(topics, [...new Set(some.map(({ topicId }) => topicId))]);
    const topicsById = new Map(found.map((topic) => [topic.id, topic]));
    for (let from = 0; from < some.length; from += insertsMax)
      await Promise.all(
        some.slice(from, from + insertsMax).map((message) => {
          const policy = policyFor(topicsById.get(message.topicId) ?? null, message.priority);
          return openEscalation(documents, newEscalation(message, policy, { now: clock(), ackKey: makeSecret() }));
        }),
      );
  }
}

/** Ends the escalations of deleted messages. */
export async function endDeleted({ documents, clock }: OpenDeps, records: readonly LogRecord[]): Promise<void> {
  const ids = records.filter(({ type }) => type === 'message_deleted').map(({ message }) => message.id);
  for (let at = 0; at < ids.length; at += topicsAtOnce)
    for (const { id } of await documents.pick(escalations, ids.slice(at, at + topicsAtOnce), ['topicId']))
      await retryStale(async () => {
        const stored = await documents.get(escalations, id);
        if (stored === null || !stored.state.isOpen) return;
        const ended = { ...stored, state: endEscalation(stored.state, clock()), unrecordedAt: null };
        const { state, unrecordedAt } = ended;
        await documents.update(escalations, stored, { state, unrecordedAt, ...timesOf(null, ended) });
      });
}
