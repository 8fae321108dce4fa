import { isoOrNull, toIso } from '../domain/to-iso.ts';
import { tierInForce } from '../domain/accounts/tiers.ts';
import type { User } from '../domain/accounts/user.ts';

/** The account as `/api/users/me` shows it: the tier in force, with the end that was set. */
export function toUserJson(user: User, now: number) {
  return {
    id: user.id,
    email: user.email,
    username: user.username,
    avatar_url: user.avatarUrl,
    subscription_tier: tierInForce(user, now),
    subscription_expires_at: isoOrNull(user.tierExpiresAt),
    is_active: user.isActive,
    is_verified: user.isVerified,
    created_at: toIso(user.createdAt),
    last_login: isoOrNull(user.lastLogin),
  };
}

/** The account as the operator sees it. */
export function toOperatorUserJson(user: User, now: number) {
  return { ...toUserJson(user, now), additional_members: user.additionalMembers };
}

/** The account as `/auth/me` shows it. */
export function toAuthUserJson(user: User, now: number) {
  return {
    id: user.id,
    email: user.email,
    username: user.username,
    avatar_url: user.avatarUrl,
    subscription_tier: tierInForce(user, now),
    is_verified: user.isVerified,
    is_active: user.isActive,
    created_at: toIso(user.createdAt),
    last_login: isoOrNull(user.lastLogin),
    oauth_provider: user.oauthProvider,
    terms_accepted_at: isoOrNull(user.termsAcceptedAt),
  };
}

/** The account as its export shows it. */
export function toExportedUserJson(user: User, now: number) {
  return {
    user_id: user.id,
    email: user.email,
    username: user.username,
    avatar_url: user.avatarUrl,
    subscription_tier: tierInForce(user, now),
    subscription_expires_at: isoOrNull(user.tierExpiresAt),
    is_verified: user.isVerified,
    created_at: toIso(user.createdAt),
    last_login: isoOrNull(user.lastLogin),
    oauth_provider: user.oauthProvider,
    terms_accepted_at: isoOrNull(user.termsAcceptedAt),
  };
}

/** The account as a login answers it. */
export function toLoginUserJson(user: User, now: number) {
  return {
    id: user.id,
    email: user.email,
    username: user.username,
    subscription_tier: tierInForce(user, now),
    is_verified: user.isVerified,
    created_at: toIso(user.createdAt),
  };
}
