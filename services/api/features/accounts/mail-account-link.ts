import { findUserByEmail } from '@tocsin/shared/collections/users.ts';
import { requestMail } from '@tocsin/shared/runtime/request-mail.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { withinMailLimits } from '../../access/mail-limits.ts';
import type { RequestContext } from '../../http/route.ts';

/**
 * Sends a link to the address if it has an account that the link is for. The work is the same in every case, so that
 * the response time reveals nothing. Throws `limited`, and `unavailable` if the queue is unreachable.
 */
export async function mailAccountLink(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'log' | 'makeId'>,
  context: RequestContext,
  { kind, email }: { readonly kind: 'verify-email' | 'password-reset'; readonly email: string },
): Promise<void> {
  const user = await findUserByEmail(deps.engine.documents, email);
  // Without an account the notifier drops the job.
  const job = { kind, userId: user?.id ?? deps.makeId() };
  await withinMailLimits(deps, context, () => requestMail(deps, { email, requester: context.address }, job));
}
