import { z } from 'zod';
import { tierInForce, tiers } from '../domain/accounts/tiers.ts';
import type { User } from '../domain/accounts/user.ts';
import { isoOrNull, toIso } from '../domain/to-iso.ts';

const time = z.iso.datetime();

/** The account in responses of `/api/users/me`: the tier in force with its configured end. */
export const userSchema = z.object({
  id: z.uuid(),
  email: z.string(),
  username: z.string(),
  avatar_url: z.string().nullable(),
  subscription_tier: z.enum(tiers),
  subscription_expires_at: time.nullable(),
  is_active: z.boolean(),
  is_verified: z.boolean(),
  created_at: time,
  last_login: time.nullable(),
});

/** The account in responses to the operator. */
export const operatorUserSchema = userSchema.extend({ additional_members: z.number().int() });

/** The account in responses of `/auth/me`. */
export const authUserSchema = userSchema.omit({ subscription_expires_at: true }).extend({
  oauth_provider: z.string().nullable(),
  terms_accepted_at: time.nullable(),
});

/** The account in its data export. */
export const exportedUserSchema = userSchema.omit({ id: true, is_active: true }).extend({
  user_id: z.uuid(),
  oauth_provider: z.string().nullable(),
  terms_accepted_at: time.nullable(),
});

/** The account in the response to a login. */
export const loginUserSchema = userSchema.pick({
  id: true,
  email: true,
  username: true,
  subscription_tier: true,
  is_verified: true,
  created_at: true,
});

export function toUserJson(user: User, now: number): z.infer<typeof userSchema> {
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

export function toOperatorUserJson(user: User, now: number): z.infer<typeof operatorUserSchema> {
  return { ...toUserJson(user, now), additional_members: user.additionalMembers };
}

export function toAuthUserJson(user: User, now: number): z.infer<typeof authUserSchema> {
  const { subscription_expires_at: _, ...shown } = toUserJson(user, now);
  return { ...shown, oauth_provider: user.oauthProvider, terms_accepted_at: isoOrNull(user.termsAcceptedAt) };
}

export function toExportedUserJson(user: User, now: number): z.infer<typeof exportedUserSchema> {
  const { id, is_active: _, ...shown } = toUserJson(user, now);
  return {
    user_id: id,
    ...shown,
    oauth_provider: user.oauthProvider,
    terms_accepted_at: isoOrNull(user.termsAcceptedAt),
  };
}

export function toLoginUserJson(user: User, now: number): z.infer<typeof loginUserSchema> {
  return {
    id: user.id,
    email: user.email,
    username: user.username,
    subscription_tier: tierInForce(user, now),
    is_verified: user.isVerified,
    created_at: toIso(user.createdAt),
  };
}
