import { tiers } from '@tocsin/shared/domain/accounts/tiers.ts';
import { z } from 'zod';

const time = z.iso.datetime();

const identity = { id: z.uuid(), email: z.string(), username: z.string() };

/** The account as `/api/users/me` answers it. */
export const userSchema = z.object({
  ...identity,
  avatar_url: z.string().nullable(),
  subscription_tier: z.enum(tiers),
  subscription_expires_at: time.nullable(),
  is_active: z.boolean(),
  is_verified: z.boolean(),
  created_at: time,
  last_login: time.nullable(),
});

/** The account as the operator's endpoints answer it. */
export const operatorUserSchema = userSchema.extend({ additional_members: z.number().int() });

/** The account as `/auth/me` answers it. */
export const authUserSchema = userSchema.omit({ subscription_expires_at: true }).extend({
  oauth_provider: z.string().nullable(),
  terms_accepted_at: time.nullable(),
});

/** The account as its export shows it. */
export const exportedUserSchema = userSchema.omit({ id: true, is_active: true }).extend({
  user_id: z.uuid(),
  oauth_provider: z.string().nullable(),
  terms_accepted_at: time.nullable(),
});

/** The account as a login answers it. */
export const loginUserSchema = userSchema.pick({
  id: true,
  email: true,
  username: true,
  subscription_tier: true,
  is_verified: true,
  created_at: true,
});
