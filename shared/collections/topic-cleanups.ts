import type { BatchReport } from '../documents/run-batches.ts';
import type { Topic } from '../domain/topics/topic.ts';
import { write, type Collection, type Documents, type New, type Write } from '../ports/documents.ts';
import { topics } from './topics.ts';

/**
 * A pending clean-up after a change of a topic. Stored by the commit of the change, so that a crash cannot lose it. A
 * job runs it promptly, and a sweep of the retention service covers lost jobs.
 * - `erase`: the topic was removed; removes its messages, tokens and subscriptions.
 * - `prune`: the topic became private; removes subscriptions of users without access.
 * - `retain`: the retention changed; updates the expiry of stored messages.
 */
export interface TopicCleanup {
  readonly id: string;
  readonly version: number;
  readonly topicId: string;
  readonly kind: 'erase' | 'prune' | 'retain';
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
  /** For `retain`: the last processed offset; null at the start. */
  readonly doneUpTo: number | null;
  /** For `retain`: whether it has started again to include late writes. */
  readonly isSettling: boolean | null;
}

export const topicCleanups: Collection<TopicCleanup> = {
  name: 'topicCleanups',
  fields: { topicId: 'text', kind: 'text', requestedAt: 'time', doneUpTo: 'integer', isSettling: 'boolean' },
  uniqueKeys: {},
  indexes: { byRequest: ['requestedAt'], byTopic: ['topicId', 'requestedAt'] },
};

/**
 * How long late writes can arrive after a topic or account was deleted: a publish accepted by a node with a stale cache
 * (5 s), a delayed record of the fan-out, an email in preparation. An erasure is complete if nothing was left
 * after this time.
 */
export const lateWritesMsOf = (config: { readonly ERASURE_SETTLE_SECONDS: number }): number =>
  config.ERASURE_SETTLE_SECONDS * 1_000;

/** The limits of an erasure run: at most `batchesMax` batches; the last run is `lateWritesMs` after the deletion. */
export interface ErasureRun {
  readonly now: number;
  readonly batchesMax: number;
  readonly lateWritesMs: number;
}

export interface ErasureReport extends BatchReport {
  /** Objects of the archive that stay, because its bucket has locked them or they are damaged. */
  readonly keptObjects: number;
}

/** Returns a new clean-up. */
export const newTopicCleanup = (
  of: Pick<TopicCleanup, 'id' | 'topicId' | 'kind' | 'requestedAt'>,
): New<TopicCleanup> => ({ ...of, doneUpTo: null, isSettling: null });

/** Where the records of a deleted topic were, for a later topic of its name. The ID is that of the deleted topic. */
export interface FormerTopic {
  readonly id: string;
  readonly version: number;
  readonly nameKey: string;
  readonly partition: number;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** The offset after its last record; null until its clean-up, which removes the records. */
  readonly logEnd: number | null;
  /** As in its topic. */
  readonly formerEnd: number | null;
}

export const formerTopics: Collection<FormerTopic> = {
  name: 'formerTopics',
  fields: { nameKey: 'text', partition: 'integer', endedAt: 'time', logEnd: 'integer', formerEnd: 'integer' },
  uniqueKeys: {},
  indexes: { byName: ['nameKey', 'endedAt'], byTime: ['endedAt'] },
};

/** Returns the writes that remove a topic if it still has this version. */
export function removeTopicWrites(topic: Topic, cleanup: { id: string; now: number }): Write[] {
  return [
    write.remove(topics, topic.id, topic.version),
    write.insert(
      topicCleanups,
      newTopicCleanup({ id: cleanup.id, topicId: topic.id, kind: 'erase', requestedAt: cleanup.now }),
    ),
    write.insert(formerTopics, {
      id: topic.id,
      nameKey: topic.nameKey,
      partition: topic.partition,
      endedAt: cleanup.now,
      logEnd: null,
      formerEnd: topic.formerEnd,
    }),
  ];
}

/** Returns the last deleted topic of the name, or null. */
export async function findFormerTopic(documents: Documents, nameKey: string): Promise<FormerTopic | null> {
  const [last] = await documents.find(formerTopics, {
    index: 'byName',
    equals: { nameKey },
    descending: true,
    limit: 1,
  });
  return last ?? null;
}
