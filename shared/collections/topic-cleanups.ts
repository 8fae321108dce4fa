import type { Topic } from '../domain/topics/topic.ts';
import { write, type Collection, type New, type Write } from '../ports/documents.ts';
import { topics } from './topics.ts';

/**
 * Work that a commit on a topic leaves behind, stored in that commit so that no crash can lose it: a job makes it
 * prompt, the retention service's sweep makes it certain.
 * - `erase`: the topic is gone; its messages, tokens and subscriptions go too.
 * - `prune`: the topic was closed; subscriptions of those who may no longer read it go.
 * - `retain`: for how long its messages are kept was changed; what is stored gets its new expiry.
 */
export interface TopicCleanup {
  readonly id: string;
  readonly version: number;
  readonly topicId: string;
  readonly kind: 'erase' | 'prune' | 'retain';
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
  /** Of `retain`: up to which position, inclusive, it is done; null before the first. */
  readonly doneUpTo: number | null;
  /** Of `retain`: whether it has begun anew, since what was under way when it was asked for is over. */
  readonly isSettling: boolean | null;
}

export const topicCleanups: Collection<TopicCleanup> = {
  name: 'topicCleanups',
  fields: { topicId: 'text', kind: 'text', requestedAt: 'time', doneUpTo: 'integer', isSettling: 'boolean' },
  uniqueKeys: {},
  indexes: { byRequest: ['requestedAt'], byTopic: ['topicId', 'requestedAt'] },
};

/**
 * How long after a topic's or an account's deletion something of it can still arrive: a publish that a node let in by what
 * it had cached (5 s), a record that the fan-out brings late, a mail that was being composed. An erasure is done when nothing
 * was left after this.
 */
export const settleMsOf = (config: { readonly ERASURE_SETTLE_SECONDS: number }): number =>
  config.ERASURE_SETTLE_SECONDS * 1_000;

/** One run of an erasure: at most `batchesMax` batches, and the last run once `settleMs` are over since the deletion. */
export interface ErasureRun {
  readonly now: number;
  readonly batchesMax: number;
  readonly settleMs: number;
}

/** A cleanup that nothing is done of yet. */
export const newTopicCleanup = (
  of: Pick<TopicCleanup, 'id' | 'topicId' | 'kind' | 'requestedAt'>,
): New<TopicCleanup> => ({ ...of, doneUpTo: null, isSettling: null });

/** The writes that take a topic away, if it still has this version. */
export function removeTopicWrites(topic: Topic, cleanup: { id: string; now: number }): Write[] {
  return [
    write.remove(topics, topic.id, topic.version),
    write.insert(
      topicCleanups,
      newTopicCleanup({ id: cleanup.id, topicId: topic.id, kind: 'erase', requestedAt: cleanup.now }),
    ),
  ];
}
