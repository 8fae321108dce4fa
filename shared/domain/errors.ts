/** The expected ways a request can fail; one table in the API maps them to HTTP statuses. */
export type ErrorCode =
  | 'invalid' // well formed, but makes no sense (400)
  | 'unauthenticated' // 401
  | 'forbidden' // 403
  | 'not_found' // 404
  | 'method_not_allowed' // 405
  | 'conflict' // 409
  | 'too_large' // 413
  | 'unsupported_media_type' // 415
  | 'unprocessable' // a field does not meet its schema (422)
  | 'limited' // 429
  | 'unavailable'; // a part that the request needs is down (503)

/**
 * An expected failure. `detail` is written for the person who made the request and says what to change;
 * it never holds a secret. Anything that is not an AppError is a bug and is answered as a 500 without its text.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** For `limited` and `unavailable`: seconds after which a retry can help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, detail: string, options: { cause?: unknown; retryAfterSeconds?: number } = {}) {
    super(detail, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** A limit that was reached: nothing remains of it until `resetAt`, milliseconds since the epoch. */
export class LimitReached extends AppError {
  readonly limit: number;
  readonly resetAt: number;
  constructor(detail: string, { limit, resetAt }: { readonly limit: number; readonly resetAt: number }, now: number) {
    super('limited', detail, { retryAfterSeconds: (resetAt - now) / 1000 });
    this.limit = limit;
    this.resetAt = resetAt;
  }
}

/** Whether a part of the system could not be reached: the same can succeed later. */
export function isUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'unavailable';
}

/** The error for a part of the system that cannot be reached now: 503 `<part> is unavailable`. */
export function unavailable(part: string, cause?: unknown): AppError {
  return new AppError('unavailable', `${part} is unavailable`, { cause, retryAfterSeconds: 1 });
}
