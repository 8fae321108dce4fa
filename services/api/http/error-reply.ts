import { AppError, LimitReached, type ErrorCode } from '@tocsin/shared/domain/errors.ts';
import { windowHeaders } from './rate-limit.ts';

/** The only mapping from errors to HTTP statuses. */
const statuses: Readonly<Record<ErrorCode, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  limited: 429,
  unavailable: 503,
};

export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly detail: string };
}

/** Returns the response to an error. Errors other than AppError are bugs, whose text is not revealed. */
export function errorReply(error: unknown): ErrorReply {
  if (!(error instanceof AppError)) return { status: 500, headers: {}, body: { detail: 'Internal server error' } };
  const headers: Record<string, string> =
    error instanceof LimitReached ? windowHeaders({ limit: error.limit, remaining: 0, resetAt: error.resetAt }) : {};
  if (error.code === 'unauthenticated') headers['WWW-Authenticate'] = 'Bearer';
  if (error.retryAfterSeconds !== undefined)
    headers['Retry-After'] = String(Math.max(1, Math.ceil(error.retryAfterSeconds)));
  return { status: statuses[error.code], headers, body: { detail: error.message } };
}
