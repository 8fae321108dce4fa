import type { ApiKey } from '@tocsin/shared/domain/accounts/credentials.ts';
import { setApiKeyActive as storeActive } from '@tocsin/shared/operations/credentials/set-api-key-active.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import type { RequestContext } from '../../http/route.ts';
import { loadApiKey } from './load-api-key.ts';

/**
 * Revokes or enables the caller's key. Idempotent. Takes effect immediately on this node and within 5 s
 * on all nodes. Throws 404, and 400 when enabling an expired key.
 */
export async function setApiKeyActive(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  isActive: boolean,
): Promise<ApiKey> {
  const { documents } = deps.engine;
  const changed = await storeActive(
    documents,
    () => loadApiKey(documents, context),
    { isActive, now: context.now },
    auditOf(deps, context),
  );
  await deps.directory.changed({ kind: 'api-key', secretHash: changed.secretHash });
  return changed;
}
