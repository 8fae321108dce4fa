import { AppError } from '@tocsin/shared/domain/errors.ts';
import { tierInForce, tierLimits } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';

/** Topics of one account, those of its teams included. Harm prevented: lists and account deletions without an end. */
const topicsMax = 10_000;

/** Throws 403 when the account can have no further topic. */
export async function requireRoomForTopic(documents: Documents, owner: User): Promise<void> {
  const count = await documents.count(topics, { index: 'byOwner', equals: { ownerId: owner.id } });
  if (count >= topicsMax) throw new AppError('forbidden', 'Topic limit reached');
}

/**
 * How many private topics the account's tier allows beyond the ones that it has, those of its teams included.
 * Throws 403 when none is left.
 */
export async function requireRoomForPrivateTopic(documents: Documents, owner: User, now: number): Promise<number> {
  const count = await documents.count(topics, {
    index: 'byOwnerAccess',
    equals: { ownerId: owner.id, accessLevel: 'private' },
  });
  const room = tierLimits[tierInForce(owner, now)].privateTopics - count;
  if (room <= 0) throw new AppError('forbidden', 'Private topic limit reached');
  return room;
}
