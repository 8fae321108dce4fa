/** The server rejected a request or did not respond. */
export class TocsinError extends Error {
  /** The HTTP status; null if there was no response. */
  readonly status: number | null;
  /** How long to wait before a retry, in milliseconds; 0 if the server did not say, null if a retry cannot succeed. */
  readonly retryAfterMs: number | null;

  constructor(message: string, { status, retryAfterMs }: Pick<TocsinError, 'status' | 'retryAfterMs'>) {
    super(message);
    this.name = 'TocsinError';
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
