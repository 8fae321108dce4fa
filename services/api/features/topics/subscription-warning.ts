import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';

const soonMs = 7 * 86_400_000;

/**
 * What the maker of a topic should know of the owner's tier: that its last private topic is now in use (`privateLeft`
 * is 0; null for a public topic), or that the tier ends within 7 days. Null when there is nothing to say.
 */
export function subscriptionWarning(owner: User, privateLeft: number | null, now: number): string | null {
  const tier = tierInForce(owner, now);
  if (privateLeft === 0) return `This is the last private topic that the ${tier} tier allows.`;
  if (tier !== 'FREE' && owner.tierExpiresAt !== null && owner.tierExpiresAt <= now + soonMs) {
    return `The ${tier} tier ends at ${toIso(owner.tierExpiresAt)}; private topics beyond the FREE tier are read-only from then on.`;
  }
  return null;
}
