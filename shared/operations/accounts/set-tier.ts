import { isInGrace, noNotice } from '../../domain/teams/team-life.ts';
import { reachesTier, tierInForce, type Tier } from '../../domain/accounts/tiers.ts';
import type { User } from '../../domain/accounts/user.ts';
import type { Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { findOwnedTeams, findTeam, teams } from '../../collections/teams.ts';
import { updateUserByEmail } from '../../collections/users.ts';

export interface TierSetting {
  readonly tier: Tier;
  /** Milliseconds since the epoch; null: no end. Absent: the end stays, unless it has passed, which would void the tier. */
  readonly expiresAt?: number | null | undefined;
  /** Seats beyond the base ones. Absent: stays. */
  readonly additionalMembers?: number | undefined;
}

/** The operator's setting of an account's tier, which is recorded. Throws `not_found` `User not found`. */
export async function setTier(
  documents: Documents,
  email: string,
  setting: TierSetting & { readonly now: number },
  audit: Audit,
): Promise<User> {
  const user = await updateUserByEmail(documents, email, (before) => {
    const set = {
      tier: setting.tier,
      tierExpiresAt: setting.expiresAt === undefined ? endToCome(before, setting.now) : setting.expiresAt,
      additionalMembers: setting.additionalMembers ?? before.additionalMembers,
    };
    const details = {
      tier: set.tier,
      former_tier: before.tier,
      expires_at: set.tierExpiresAt,
      additional_members: set.additionalMembers,
    };
    return { set, also: audit({ action: 'account.tier_changed', subject: { id: before.id }, details }) };
  });
  if (reachesTier(tierInForce(user, setting.now), 'TEAM')) await endGraces(documents, user.id);
  return user;
}

/** At once, and not with the next sweep: a tier that is lost again before it gets a whole grace again. */
async function endGraces(documents: Documents, ownerId: string): Promise<void> {
  const lapsed = (await findOwnedTeams(documents, ownerId)).filter(isInGrace);
  for (const { id } of lapsed) {
    await retryStale(async () => {
      const team = await findTeam(documents, id);
      if (team !== null && isInGrace(team)) await documents.update(teams, team, noNotice);
    });
  }
}

const endToCome = (user: User, now: number): number | null =>
  user.tierExpiresAt !== null && user.tierExpiresAt > now ? user.tierExpiresAt : null;
