import type { LoginSession } from '@tocsin/shared/domain/accounts/credentials.ts';
import { findLogins, loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import type { ApiDeps } from '../api-deps.ts';
import { auditOf } from '../audit.ts';
import type { RequestContext } from '../http/route.ts';

/** Per commit, with an audit entry of up to two writes for each login; a commit has at most 1,000 writes. */
const loginsPerCommit = 300;

/**
 * Ends the selected logins of the caller and records each. A login of the selection that is opened meanwhile may stay.
 */
export async function endLogins(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  isEnded: (login: LoginSession) => boolean,
): Promise<void> {
  const { documents } = deps.engine;
  const { userId } = context.account();
  const audit = auditOf(deps, context);
  const endSome = async (): Promise<number> => {
    const found = (await findLogins(documents, userId)).filter(isEnded).slice(0, loginsPerCommit);
    if (found.length === 0) return 0;
    const writes = found.flatMap(({ id, version }) => [
      write.remove(loginSessions, id, version),
      ...audit({ action: 'login.ended', subject: { id: userId }, details: { session_id: id } }),
    ]);
    await documents.commit(writes);
    await deps.directory.changed(...found.map(({ id }) => ({ kind: 'session' as const, sessionId: id })));
    return found.length;
  };
  while ((await retryStale(endSome)) > 0);
}
