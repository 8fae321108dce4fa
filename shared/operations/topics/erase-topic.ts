import type { ArchiveStore } from '../../ports/archive-store.ts';
import type { MessageReads } from '../../ports/messages/message-reads.ts';
import type { MessageRetention } from '../../ports/messages/message-retention.ts';
import type { Documents } from '../../ports/documents.ts';
import { escalationAccounts, escalationChanges, escalations } from '../../collections/escalation/escalations.ts';
import { topicTokens } from '../../collections/credentials.ts';
import { logConsumers } from '../../collections/log-consumers.ts';
import { quotaGuards } from '../../collections/quota-guards.ts';
import { dropScheduledOfTopic } from '../messages/erase-scheduled.ts';
import { sinkDeliveryPages, sinks, sinkTopics } from '../../collections/sinks/sinks.ts';
import type { ErasureReport } from '../../collections/topic-cleanups.ts';
import { removeTopicArchive } from '../archive/remove-archive.ts';
import { removeFound } from '../../documents/remove-found.ts';
import { runBatches } from '../../documents/run-batches.ts';
import { subscriptions } from '../../collections/subscriptions-collection.ts';
import { topics } from '../../collections/topics.ts';
import { keepLogEnd } from './former-log.ts';
import { removeTeamSubscriptionsOf } from '../teams/subscriptions/run-team-subscription.ts';

export interface EraseTopicDeps {
  readonly documents: Documents;
  readonly messages: MessageRetention & Pick<MessageReads, 'lastOffsets'>;
  /** Null without an archive. */
  readonly archive: ArchiveStore | null;
}

/** Items per commit or removal, so that it does not block others. */
const batchSize = 500;
/** Pages of deliveries have some kilobytes. */
const pagesAtOnce = 100;

/**
 * Erases the data of a deleted topic: tokens, consumers, sinks, escalations, subscriptions, also of a team, scheduled
 * messages, then messages with their records, in at most `batchesMax` batches, and finally its archive. Can be
 * interrupted and run again at any point. Throws if the topic still exists, and `unavailable`.
 */
export async function eraseTopic(
  deps: EraseTopicDeps,
  topicId: string,
  { batchesMax, now }: { readonly batchesMax: number; readonly now: number },
): Promise<ErasureReport> {
  const { documents, messages } = deps;
  if ((await documents.get(topics, topicId)) !== null)
    throw new Error(`topic ${topicId} still exists and cannot be erased`);
  await keepLogEnd(deps, topicId);
  const report = await runBatches(
    [
      () => removeFound(documents, topicTokens, { index: 'byTopic', equals: { topicId }, limit: batchSize }),
      () => removeFound(documents, logConsumers, { index: 'name', equals: { topicId }, limit: batchSize }),
      () => removeFound(documents, sinks, { index: 'byTopic', equals: { topicId }, limit: batchSize }),
      () => removeFound(documents, sinkDeliveryPages, { index: 'byTopic', equals: { topicId }, limit: pagesAtOnce }),
      () => removeFound(documents, escalations, { index: 'byTopic', equals: { topicId }, limit: batchSize }),
      () => removeFound(documents, escalationAccounts, { index: 'account', equals: { topicId }, limit: batchSize }),
      () => removeFound(documents, escalationChanges, { index: 'byTopic', equals: { topicId }, limit: batchSize }),
      () => removeFound(documents, subscriptions, { index: 'byTopic', equals: { topicId }, limit: batchSize }),
      () => removeTeamSubscriptionsOf(documents, topicId),
      () => dropScheduledOfTopic(documents, topicId, { limit: batchSize, now }),
      () => messages.removeTopic(topicId, batchSize),
    ],
    batchesMax,
  );
  if (report.hasMore) return { ...report, keptObjects: 0 };
  await documents.remove(sinkTopics, topicId);
  await documents.remove(quotaGuards, topicId);
  return { ...report, keptObjects: deps.archive === null ? 0 : await removeTopicArchive(deps.archive, topicId) };
}
