import { hasExpired, type ApiKey } from '../domain/accounts/credentials.ts';
import { isoOrNull, toIso } from '../domain/to-iso.ts';

/** The API key object of the interface, without the secret. */
export function toApiKeyJson(key: ApiKey, now: number) {
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
