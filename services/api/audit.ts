import type { AuditSource, AuditThrough } from '@tocsin/shared/domain/audit/audit-entry.ts';
import { auditBy, bySystem, type Audit } from '@tocsin/shared/collections/audit-log.ts';
import type { ApiDeps } from './api-deps.ts';
import type { RequestContext } from './http/route.ts';

/** What of a request tells where it comes from. */
export type AuditedRequest = Pick<RequestContext, 'request'>;

function from(deps: ApiDeps, { request }: AuditedRequest): Pick<AuditSource, 'address' | 'userAgent'> {
  return { address: deps.wholeAddress(request), userAgent: request.headers['user-agent'] ?? null };
}

/** Records acts of the calling account. Throws as `context.account()` does. */
export function auditOf(deps: ApiDeps, context: RequestContext): Audit {
  const { userId, scopes, credentialId } = context.account();
  return auditBy(deps, {
    actor: userId,
    through: scopes === null ? 'login' : 'api_key',
    credentialId,
    ...from(deps, context),
  });
}

/** Records acts of an account that proves by something else than a credential who it is, or of nobody (`anonymous`). */
export function auditAs(
  deps: ApiDeps,
  context: AuditedRequest,
  by: { readonly actor: string; readonly through: AuditThrough; readonly credentialId?: string },
): Audit {
  return auditBy(deps, { credentialId: null, ...by, ...from(deps, context) });
}

/** Records acts of the operator. */
export function auditOfOperator(deps: ApiDeps, context: RequestContext): Audit {
  return auditAs(deps, context, { actor: 'operator', through: 'admin_token' });
}

/** Records what follows from an act without being one. */
export function auditOfSystem(deps: ApiDeps): Audit {
  return auditBy(deps, bySystem);
}
