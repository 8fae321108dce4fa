import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import {
  scheduledPerHolder,
  type ScheduledMessage,
  type ScheduledPublisher,
} from '@tocsin/shared/domain/messages/scheduled-message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { topicTokens } from '@tocsin/shared/collections/credentials.ts';
import { commitWithinQuota } from '@tocsin/shared/collections/quota-guards.ts';
import { scheduledMessages } from '@tocsin/shared/collections/messages/scheduled-messages.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { write, type Documents, type Write } from '@tocsin/shared/ports/documents.ts';
import { requireOwnAccount } from '../../http/require-own-account.ts';

/**
 * Stores a message until its time and resolves with it once it is durable. An account's messages count against its
 * limit, those of topic tokens against the limit of the topic's owner, and anonymous ones against a limit of the topic,
 * so that strangers cannot use up an account's. Nothing is stored for an account or topic that is being deleted.
 * Throws 401, 403 at the limit, 404 and `unavailable`.
 */
export async function storeScheduled(
  documents: Documents,
  caller: Caller,
  { message, scheduledFor, ttlMs }: { message: Message; scheduledFor: number; ttlMs: number | null },
): Promise<Message> {
  const found = await openTopic(documents, message.topicId);
  const holderId = holderOf(caller, found);
  return commitWithinQuota(documents, holderId, async () => {
    const topic = await openTopic(documents, message.topicId);
    const waiting = await documents.count(scheduledMessages, { index: 'byHolder', equals: { holderId } });
    if (waiting >= scheduledPerHolder) throw new AppError('forbidden', 'Scheduled message limit reached');
    const scheduled = newScheduledMessage(caller, topic, { message, scheduledFor, ttlMs, holderId });
    return {
      writes: [
        ...(await requirePublisher(documents, caller)),
        write.require(topics, topic),
        write.insert(scheduledMessages, scheduled),
      ],
      result: message,
    };
  });
}

async function openTopic(documents: Documents, topicId: string): Promise<Topic> {
  const topic = await documents.get(topics, topicId);
  if (topic === null) throw new AppError('not_found', 'Topic not found');
  return topic;
}

function holderOf(caller: Caller, topic: Topic): string {
  if (caller.kind === 'anonymous') return topic.id;
  return caller.kind === 'account' ? caller.userId : topic.ownerId;
}

function newScheduledMessage(
  caller: Caller,
  topic: Topic,
  of: Pick<ScheduledMessage, 'message' | 'scheduledFor' | 'ttlMs' | 'holderId'>,
): ScheduledMessage {
  return {
    ...of,
    id: of.message.id,
    version: 1,
    topicId: topic.id,
    topicName: topic.name,
    topicOwnerId: topic.ownerId,
    teamId: topic.teamId,
    publisher: publisherOf(caller),
    guestId: caller.kind === 'account' && caller.userId !== topic.ownerId ? caller.userId : null,
    dueAt: of.scheduledFor,
    attemptExpiresAt: null,
    state: 'scheduled',
    reason: null,
    endedAt: null,
  };
}

/** A login may end before the message is due; an API key or topic token must then still be valid. */
function publisherOf(caller: Caller): ScheduledPublisher {
  switch (caller.kind) {
    case 'anonymous':
      return { kind: 'anonymous' };
    case 'account':
      return { kind: 'account', userId: caller.userId, keyId: caller.scopes === null ? null : caller.credentialId };
    case 'topic-token':
      return { kind: 'topic-token', tokenId: caller.credentialId };
  }
}

/** The conditions that the publisher still exists at the commit. */
async function requirePublisher(documents: Documents, caller: Caller): Promise<Write[]> {
  if (caller.kind === 'anonymous') return [];
  if (caller.kind === 'account') return [await requireOwnAccount(documents, caller.userId)];
  const token = await documents.get(topicTokens, caller.credentialId);
  if (token === null) throw new AppError('unauthenticated', 'Could not validate credentials');
  return [write.require(topicTokens, token)];
}
