import { credentialLimits, scopes } from '@tocsin/shared/domain/accounts/credentials.ts';
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

/** Throws 422 if the expiry is in the past. */
export function requireFuture(expiresAt: number | undefined, now: number): void {
  if (expiresAt !== undefined && expiresAt <= now)
    throw new AppError('unprocessable', 'expires_at: must be in the future');
}
