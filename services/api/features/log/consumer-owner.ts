import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { LogConsumer } from '@tocsin/shared/domain/log/log-consumer.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findLogConsumer, type ConsumersOf } from '@tocsin/shared/collections/log-consumers.ts';

/**
 * The owner of the caller's consumers: the account, for any of its credentials, or the topic token. Throws 401 for
 * anonymous callers.
 */
export function consumersOf(caller: Caller, topicId: string): ConsumersOf {
  switch (caller.kind) {
    case 'anonymous':
      throw new AppError('unauthenticated', 'Not authenticated');
    case 'account':
      return { topicId, ownerId: caller.userId };
    case 'topic-token':
      return { topicId, ownerId: caller.credentialId };
  }
}

export const consumerNotFound = () => new AppError('not_found', 'Consumer not found');

/** Returns the caller's named consumer of the topic. Throws 401 for anonymous callers and 404 if it does not exist. */
export async function loadConsumer(
  documents: Documents,
  of: { caller: Caller; topicId: string; name: string },
): Promise<LogConsumer> {
  const consumer = await findLogConsumer(documents, consumersOf(of.caller, of.topicId), of.name);
  if (consumer === null) throw consumerNotFound();
  return consumer;
}
