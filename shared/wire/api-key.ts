import { z } from 'zod';
import { hasExpired, scopes, type ApiKey } from '../domain/accounts/credentials.ts';
import { isoOrNull, toIso } from '../domain/to-iso.ts';

/** An API key without its secret. */
export const apiKeySchema = z
  .object({
    id: z.uuid(),
    user_id: z.uuid(),
    name: z.string(),
    key_prefix: z.string(),
    description: z.string(),
    scopes: z.array(z.enum(scopes)),
    request_count: z.int(),
    is_active: z.boolean(),
    is_valid: z.boolean(),
    created_at: z.iso.datetime(),
    last_used: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable(),
    expires_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'ApiKey' });

export function toApiKeyJson(key: ApiKey, now: number): z.infer<typeof apiKeySchema> {
  const lastUsed = isoOrNull(key.lastUsedAt);
  return {
    id: key.id,
    user_id: key.userId,
    name: key.name,
    key_prefix: key.keyPrefix,
    description: key.description ?? '',
    scopes: [...key.scopes],
    request_count: key.requestCount,
    is_active: key.isActive,
    is_valid: key.isActive && !hasExpired(key, now),
    created_at: toIso(key.createdAt),
    last_used: lastUsed,
    last_used_at: lastUsed,
    expires_at: isoOrNull(key.expiresAt),
  };
}
