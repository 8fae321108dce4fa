import { credentialLimits, scopes, type ApiKey } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { z } from 'zod';
import { textField } from '../../http/fields.ts';
import { timeField } from '../../http/time-field.ts';

const withoutRepeats = <T>(values: T[]): T[] => [...new Set(values)];

/** Fields of API keys and topic tokens in requests. */
export const credentialFields = {
  name: textField({ min: 1, max: credentialLimits.name }),
  description: textField({ min: 0, max: credentialLimits.description }),
  scopes: z.array(z.enum(scopes)).min(1, 'must name at least one scope').transform(withoutRepeats),
  permissions: z
    .array(z.enum(['read', 'write']))
    .min(1, 'must name at least one permission')
    .transform(withoutRepeats),
  expiresAt: timeField(),
};

/**
 * Returns the expiry of a new credential; without one in the request, that of the API key that creates it. Throws 422
 * if the expiry is in the past or later than that of the API key.
 */
export function expiryOf(caller: AccountCaller, wanted: number | undefined, now: number): number | null {
  if (wanted !== undefined && wanted <= now) throw new AppError('unprocessable', 'expires_at: must be in the future');
  const expiresAt = wanted ?? expiryMax(caller);
  if (outlives({ expiresAt }, caller))
    throw new AppError('unprocessable', 'expires_at: must not be later than the expiry of the API key in use');
  return expiresAt;
}

/** Whether the credential is valid longer than the API key of the request. */
export function outlives({ expiresAt }: Pick<ApiKey, 'expiresAt'>, caller: AccountCaller): boolean {
  const max = expiryMax(caller);
  return max !== null && (expiresAt === null || expiresAt > max);
}

/** A login is not limited: its access tokens expire, but it renews them. */
const expiryMax = (caller: AccountCaller): number | null => (caller.scopes === null ? null : caller.expiresAt);
