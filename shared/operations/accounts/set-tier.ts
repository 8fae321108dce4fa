import { isInGrace, noNotice } from '../../domain/teams/team-lifecycle.ts';
import { reachesTier, tierInForce, type Tier } from '../../domain/accounts/tiers.ts';
import type { User } from '../../domain/accounts/user.ts';
import type { Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { findOwnedTeams, findTeam, teams } from '../../collections/teams.ts';
import { updateUserByEmail } from '../../collections/users.ts';

export interface TierSetting {
  readonly tier: Tier;
  /** Milliseconds since the epoch; null means no expiry. If absent, keeps the expiry unless it has passed. */
  readonly expiresAt?: number | null | undefined;
  /** Additional seats. If absent, keeps the value. */
  readonly additionalMembers?: number | undefined;
}

/** Sets the tier of an account for the operator and records it. Throws `not_found` `User not found`. */
export async function setTier(
  documents: Documents,
  email: string,
  setting: TierSetting & { readonly now: number },
  audit: Audit,
): Promise<User> {
  const user = await updateUserByEmail(documents, email, (before) => {
    const set = {
      tier: setting.tier,
      tierExpiresAt: setting.expiresAt === undefined ? futureExpiry(before, setting.now) : setting.expiresAt,
      additionalMembers: setting.additionalMembers ?? before.additionalMembers,
    };
    const details = {
      tier: set.tier,
      former_tier: before.tier,
      expires_at: set.tierExpiresAt,
      additional_members: set.additionalMembers,
    };
    return { set, otherWrites: audit({ action: 'account.tier_changed', subject: { id: before.id }, details }) };
  });
  if (reachesTier(tierInForce(user, setting.now), 'TEAM')) await endGraces(documents, user.id);
  return user;
}

/**
 * Ends grace periods immediately instead of in the next sweep, so that losing the tier again starts a full grace
 * period.
 */
async function endGraces(documents: Documents, ownerId: string): Promise<void> {
  const lapsed = (await findOwnedTeams(documents, ownerId)).filter(isInGrace);
  for (const { id } of lapsed) {
    await retryStale(async () => {
      const team = await findTeam(documents, id);
      if (team !== null && isInGrace(team)) await documents.update(teams, team, noNotice);
    });
  }
}

const futureExpiry = (user: User, now: number): number | null =>
  user.tierExpiresAt !== null && user.tierExpiresAt > now ? user.tierExpiresAt : null;
