import { removeAccount } from '@tocsin/shared/operations/accounts/remove-account.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { eraseSoon } from '../../erasure/erase-soon.ts';
import { route, type Route } from '../../http/route.ts';
import { loadAccount } from './load-account.ts';
import { loadPasswordHolder, passwordProof, wrongPassword } from './prove-password.ts';

/**
 * `DELETE /api/users/me`: permanently deletes the account with its data. Its credentials end, and its email, username
 * and topic names become available. 409 while one of its topics is under legal hold.
 */
export function deleteMe(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'passwords' | 'wholeAddress'>,
): Route {
  const requirePassword = passwordProof(deps);
  return route({
    id: 'deleteMe',
    method: 'DELETE',
    path: '/api/users/me',
    summary: 'Delete the account and all of its data permanently',
    audience: 'login',
    body: z.object({ password: z.string() }),
    errors: { 400: 'Malformed JSON, or the password is wrong.', 409: 'A topic of the account is under legal hold.' },
    success: { status: 204, schema: null, description: 'Gone' },
    load: (context) => loadPasswordHolder(deps, context),
    handle: async (context, { loaded: proven, body }) => {
      await requirePassword(context, proven, body.password);
      await retryStale(async () => {
        const user = await loadAccount(deps, context);
        if (user.passwordHash !== proven.passwordHash) throw wrongPassword();
        await removeAccount(deps.engine.documents, user, { now: deps.clock(), audit: auditOf(deps, context) });
      });
      await deps.directory.changed({ kind: 'user', userId: proven.id });
      await eraseSoon(deps, proven.id);
      return { status: 204 };
    },
  });
}
