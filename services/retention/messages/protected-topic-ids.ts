import { protectsConsumers } from '@tocsin/shared/collections/retention-runs.ts';
import { findProtectedTopics } from '@tocsin/shared/operations/retention/protected-topics.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';
import { heldTopicIds } from './held-topic-ids.ts';

/**
 * Returns the topics with an unread record that expired at or before the time, without those under legal hold. With
 * protection, they keep their messages for `protectedMs` after the expiry. Without protection the set is empty.
 */
export async function protectedTopicIds(
  { engine, config, clock }: Pick<RetentionDeps, 'engine' | 'config' | 'clock'>,
  upTo: number,
): Promise<ReadonlySet<string>> {
  const { documents, messages } = engine;
  const isSet = config.RETENTION_PROTECT_CONSUMERS;
  if (!(await protectsConsumers(documents, { isSet, now: clock() }))) return new Set();
  const expired = await messages.expired(upTo, await heldTopicIds(documents));
  return findProtectedTopics(
    engine,
    expired.map(({ topicId }) => topicId),
    upTo,
  );
}
