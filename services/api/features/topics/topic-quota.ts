import { AppError } from '@tocsin/shared/domain/errors.ts';
import { tierInForce, tierLimits } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';

/** Topics of one account including its teams. Bounds lists and account deletions. */
const topicsMax = 10_000;

/** Throws 403 if the account has reached the limit of topics. */
export async function requireRoomForTopic(documents: Documents, owner: User): Promise<void> {
  const count = await documents.count(topics, { index: 'byOwner', equals: { ownerId: owner.id } });
  if (count >= topicsMax) throw new AppError('forbidden', 'Topic limit reached');
}

/**
 * Returns how many more private topics the account's tier allows, counting those of its teams.
 * Throws 403 at the limit.
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
