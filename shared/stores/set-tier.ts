import type { Tier } from '../domain/tiers.ts';
import type { User } from '../domain/user.ts';
import type { Documents } from '../ports/documents.ts';
import { updateUserByEmail } from './users.ts';

export interface TierSetting {
  readonly tier: Tier;
  /** Milliseconds since the epoch; null: no end. Absent: the end stays, unless it has passed, which would void the tier. */
  readonly expiresAt?: number | null | undefined;
  /** Seats beyond the base ones. Absent: stays. */
  readonly additionalMembers?: number | undefined;
}

/** The operator's setting of an account's tier. Throws `not_found` `User not found`. */
export function setTier(documents: Documents, email: string, setting: TierSetting & { readonly now: number }): Promise<User> {
  return updateUserByEmail(documents, email, (user) => ({
    tier: setting.tier,
    tierExpiresAt: setting.expiresAt === undefined ? endToCome(user, setting.now) : setting.expiresAt,
    additionalMembers: setting.additionalMembers ?? user.additionalMembers,
  }));
}

const endToCome = (user: User, now: number): number | null =>
  user.tierExpiresAt !== null && user.tierExpiresAt > now ? user.tierExpiresAt : null;
