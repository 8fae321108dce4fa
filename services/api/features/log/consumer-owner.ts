import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { LogConsumer } from '@tocsin/shared/domain/log/log-consumer.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findLogConsumer, type ConsumersOf } from '@tocsin/shared/collections/log-consumers.ts';

/** Whose consumers a caller's are: the account's, whichever credential it uses, or the topic token's. Throws 401 for nobody. */
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

/** The caller's consumer of the topic with the name. Throws 401 for nobody and 404 for one that the caller does not have. */
export async function loadConsumer(
  documents: Documents,
  of: { caller: Caller; topicId: string; name: string },
): Promise<LogConsumer> {
  const consumer = await findLogConsumer(documents, consumersOf(of.caller, of.topicId), of.name);
  if (consumer === null) throw consumerNotFound();
  return consumer;
}
