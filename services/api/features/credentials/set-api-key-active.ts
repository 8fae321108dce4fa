import type { ApiKey } from '@tocsin/shared/domain/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { retryStale } from '@tocsin/shared/stores/retry-stale.ts';
import { apiKeys } from '@tocsin/shared/stores/credentials.ts';
import { updateWith } from '@tocsin/shared/stores/update-with.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import type { RequestContext } from '../../http/route.ts';
import { hasExpired } from './api-key-json.ts';
import { loadApiKey } from './load-api-key.ts';

/**
 * Revokes or enables the caller's key; one that is so already stays as it is. Counts at once on this node, within 5 s
 * on all. Throws 404, and 400 when an expired key is to be enabled.
 */
export async function setApiKeyActive(deps: ApiDeps, context: RequestContext, isActive: boolean): Promise<ApiKey> {
  const { documents } = deps.engine;
  const changed = await retryStale(async () => {
    const key = await loadApiKey(documents, context);
    if (isActive && hasExpired(key, context.now)) throw new AppError('invalid', 'API key has expired');
    if (key.isActive === isActive) return key;
    const recorded = auditOf(deps, context)({ action: isActive ? 'api_key.enabled' : 'api_key.revoked', subject: key, details: {} });
    return updateWith(documents, apiKeys, key, { set: { isActive }, also: recorded });
  });
  await deps.directory.changed({ kind: 'api-key', secretHash: changed.secretHash });
  return changed;
}
