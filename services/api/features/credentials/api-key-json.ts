import { scopes, type ApiKey } from '@tocsin/shared/domain/credentials.ts';
import { isoOrNull, toIso } from '@tocsin/shared/domain/to-iso.ts';
import { z } from 'zod';

/** The API key object of the interface, without the secret. */
export const apiKeySchema = z.object({
  id: z.uuid(),
  user_id: z.uuid(),
  name: z.string(),
  key_prefix: z.string(),
  description: z.string().nullable(),
  scopes: z.array(z.enum(scopes)),
  request_count: z.int(),
  is_active: z.boolean(),
  is_valid: z.boolean(),
  created_at: z.iso.datetime(),
  last_used: z.iso.datetime().nullable(),
  last_used_at: z.iso.datetime().nullable(),
  expires_at: z.iso.datetime().nullable(),
}).meta({ id: 'ApiKey' });

export function toApiKeyJson(key: ApiKey, now: number): z.infer<typeof apiKeySchema> {
  const lastUsed = isoOrNull(key.lastUsedAt);
  return {
    id: key.id,
    user_id: key.userId,
    name: key.name,
    key_prefix: key.keyPrefix,
    description: key.description,
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

export function hasExpired(key: Pick<ApiKey, 'expiresAt'>, now: number): boolean {
  return key.expiresAt !== null && key.expiresAt <= now;
}
