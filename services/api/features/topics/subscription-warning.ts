import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';

const soonMs = 7 * 86_400_000;

/**
 * Returns a warning about the owner's tier: its last private topic is now in use (`privateLeft`
 * is 0; null for a public topic), or the tier ends within 7 days. Null without a warning.
 */
export function subscriptionWarning(owner: User, privateLeft: number | null, now: number): string | null {
  const tier = tierInForce(owner, now);
  if (privateLeft === 0) return `This is the last private topic that the ${tier} tier allows.`;
  if (tier !== 'FREE' && owner.tierExpiresAt !== null && owner.tierExpiresAt <= now + soonMs) {
    return `The ${tier} tier ends at ${toIso(owner.tierExpiresAt)}; private topics beyond the FREE tier are read-only from then on.`;
  }
  return null;
}
