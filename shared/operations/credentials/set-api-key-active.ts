import { hasExpired, type ApiKey } from '../../domain/accounts/credentials.ts';
import { AppError } from '../../domain/errors.ts';
import type { Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { apiKeys } from '../../collections/credentials.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { updateWith } from '../../documents/update-with.ts';

/**
 * Revokes or enables the key that `load` returns. Changes nothing if the key is already in that state. The caller
 * notifies the nodes (`{kind: 'api-key'}`). Throws what `load` throws, and `invalid` for enabling an expired key.
 */
export function setApiKeyActive(
  documents: Documents,
  load: () => Promise<ApiKey>,
  { isActive, now }: { readonly isActive: boolean; readonly now: number },
  audit: Audit,
): Promise<ApiKey> {
  return retryStale(async () => {
    const key = await load();
    if (isActive && hasExpired(key, now)) throw new AppError('invalid', 'API key has expired');
    if (key.isActive === isActive) return key;
    const recorded = audit({ action: isActive ? 'api_key.enabled' : 'api_key.revoked', subject: key, details: {} });
    return updateWith(documents, apiKeys, key, { set: { isActive }, otherWrites: recorded });
  });
}
