import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { ApiKey } from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { setApiKeyActive as storeActive } from '@tocsin/shared/operations/credentials/set-api-key-active.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { requireScopes, type RequestContext } from '../../http/route.ts';
import { outlives } from './credential-fields.ts';
import { loadApiKey } from './load-api-key.ts';

/**
 * Revokes or enables the caller's key. Idempotent. Takes effect immediately on this node and within 5 s
 * on all nodes. Throws 404, 403 when an API key would enable a key with more scopes or a later expiry than its own, and
 * 400 when enabling an expired key.
 */
export async function setApiKeyActive(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  isActive: boolean,
): Promise<ApiKey> {
  const { documents } = deps.engine;
  const changed = await storeActive(
    documents,
    async () => {
      const key = await loadApiKey(documents, context);
      if (isActive) requireWithinOwn(context.account(), key);
      return key;
    },
    { isActive, now: context.now },
    auditOf(deps, context),
  );
  await deps.directory.changed({ kind: 'api-key', secretHash: changed.secretHash });
  return changed;
}

function requireWithinOwn(caller: AccountCaller, key: ApiKey): void {
  requireScopes(caller, key.scopes);
  if (outlives(key, caller)) throw new AppError('forbidden', 'The key is valid longer than the API key in use');
}
