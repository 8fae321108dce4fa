import type { AuditSource, AuditThrough } from '@tocsin/shared/domain/audit/audit-entry.ts';
import { auditBy, bySystem, type Audit } from '@tocsin/shared/collections/audit-log.ts';
import type { ApiDeps } from './api-deps.ts';
import type { RequestContext } from './http/route.ts';

/** The parts of a request that show its origin. */
export type AuditedRequest = Pick<RequestContext, 'request'>;

function from(
  deps: Pick<ApiDeps, 'wholeAddress'>,
  { request }: AuditedRequest,
): Pick<AuditSource, 'address' | 'userAgent'> {
  return { address: deps.wholeAddress(request), userAgent: request.headers['user-agent'] ?? null };
}

/** Records actions of the caller's account. Throws like `context.account()`. */
export function auditOf(deps: Pick<ApiDeps, 'clock' | 'makeId' | 'wholeAddress'>, context: RequestContext): Audit {
  const { userId, scopes, credentialId } = context.account();
  return auditBy(deps, {
    actor: userId,
    through: scopes === null ? 'login' : 'api_key',
    credentialId,
    ...from(deps, context),
  });
}

/** Records actions of a caller that may also be a topic token. */
export function auditOfCaller(
  deps: Pick<ApiDeps, 'clock' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
): Audit {
  const { caller } = context;
  if (caller.kind !== 'topic-token') return auditOf(deps, context);
  return auditAs(deps, context, { actor: 'anonymous', through: 'topic_token', credentialId: caller.credentialId });
}

/** Records actions of an account without a credential in the request, or of an anonymous actor. */
export function auditAs(
  deps: Pick<ApiDeps, 'clock' | 'makeId' | 'wholeAddress'>,
  context: AuditedRequest,
  by: { readonly actor: string; readonly through: AuditThrough; readonly credentialId?: string },
): Audit {
  return auditBy(deps, { credentialId: null, ...by, ...from(deps, context) });
}

/** Records actions of the operator. */
export function auditOfOperator(
  deps: Pick<ApiDeps, 'clock' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
): Audit {
  return auditAs(deps, context, { actor: 'operator', through: 'admin_token' });
}

/** Records consequences of an action. */
export function auditOfSystem(deps: Pick<ApiDeps, 'clock' | 'makeId'>): Audit {
  return auditBy(deps, bySystem);
}
