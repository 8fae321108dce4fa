import type { MessageVolume } from '@tocsin/shared/domain/messages/message-volume.ts';
import { protectedMs } from '@tocsin/shared/domain/retention/protection.ts';
import { protectsConsumers } from '@tocsin/shared/collections/retention-runs.ts';
import { findProtectedTopics } from '@tocsin/shared/operations/retention/protected-topics.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';
import { heldTopicIds } from './held-topic-ids.ts';

/**
 * Returns the removal of up to a number of messages that expired at or before the time, except in topics under legal
 * hold. With protection, topics with an unread expired record keep their messages for 7 days after the expiry.
 */
export async function dueMessages(
  { engine, config, clock }: RetentionDeps,
  upTo: number,
): Promise<(limit: number) => Promise<Map<string, MessageVolume>>> {
  const { messages, documents } = engine;
  const kept = (await protectsConsumers(documents, { isSet: config.RETENTION_PROTECT_CONSUMERS, now: clock() }))
    ? await findProtectedTopics(
        engine,
        (await messages.expired(upTo, await heldTopicIds(documents))).map(({ topicId }) => topicId),
        upTo,
      )
    : new Set<string>();
  return async (limit) => {
    const held = await heldTopicIds(documents);
    const gone = await messages.removeExpired(upTo, limit, [...held, ...kept]);
    return gone.size > 0 || kept.size === 0 ? gone : messages.removeExpired(upTo - protectedMs, limit, held);
  };
}
