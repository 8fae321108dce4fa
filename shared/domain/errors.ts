/** Codes of expected failures. One table in the API maps them to HTTP statuses. */
export type ErrorCode =
  | 'invalid' // well-formed but invalid (400)
  | 'unauthenticated' // 401
  | 'forbidden' // 403
  | 'not_found' // 404
  | 'method_not_allowed' // 405
  | 'conflict' // 409
  | 'too_large' // 413
  | 'unsupported_media_type' // 415
  | 'unprocessable' // a field violates its schema (422)
  | 'limited' // 429
  | 'unavailable'; // a required component is unavailable (503)

/**
 * An expected failure. `detail` tells the caller what to change and never contains a secret.
 * Every other error is a bug and returns 500 without its text.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** For `limited` and `unavailable`: seconds after which a retry can succeed. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, detail: string, options: { cause?: unknown; retryAfterSeconds?: number } = {}) {
    super(detail, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** An exhausted limit. It resets at `resetAt`, in milliseconds since the epoch. */
export class LimitReached extends AppError {
  readonly limit: number;
  readonly resetAt: number;
  constructor(detail: string, { limit, resetAt }: { readonly limit: number; readonly resetAt: number }, now: number) {
    super('limited', detail, { retryAfterSeconds: (resetAt - now) / 1000 });
    this.limit = limit;
    this.resetAt = resetAt;
  }
}

/** Whether a component was unavailable, so that a retry can succeed. */
export function isUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'unavailable';
}

/** The error for an unavailable component: 503 `<part> is unavailable`. */
export function unavailable(part: string, cause?: unknown): AppError {
  return new AppError('unavailable', `${part} is unavailable`, { cause, retryAfterSeconds: 1 });
}
