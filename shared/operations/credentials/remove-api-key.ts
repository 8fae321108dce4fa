import type { ApiKey } from '../../domain/accounts/credentials.ts';
import { write, type Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { apiKeys } from '../../collections/credentials.ts';
import { retryStale } from '../../documents/retry-stale.ts';

/**
 * Removes the key that `load` returns. The caller notifies the nodes (`{kind: 'api-key'}`). Throws what `load` throws.
 */
export function removeApiKey(documents: Documents, load: () => Promise<ApiKey>, audit: Audit): Promise<ApiKey> {
  return retryStale(async () => {
    const key = await load();
    await documents.commit([
      write.remove(apiKeys, key.id, key.version),
      ...audit({ action: 'api_key.deleted', subject: key, details: {} }),
    ]);
    return key;
  });
}
