import type { IdentityProvider } from '@tocsin/shared/domain/accounts/identity.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { recordFailedLogin } from '../../access/failed-logins.ts';
import type { RequestContext } from '../../http/route.ts';
import { SignInFailed, type SignInFault } from './sign-in-failed.ts';

/** Outcomes without a decision: the person declined, or the provider was unreachable. */
const unjudged: readonly SignInFault[] = ['access_denied', 'temporarily_unavailable', 'server_error'];

/** Records a refused sign-in, unless there was no decision. */
export async function recordRefusal(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  method: IdentityProvider,
  refused: { fault: SignInFault; error: unknown },
): Promise<void> {
  if (unjudged.includes(refused.fault)) return;
  const account = refused.error instanceof SignInFailed ? refused.error.account : null;
  await recordFailedLogin(deps, context, { method, reason: refused.fault, account });
}
