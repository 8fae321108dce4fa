import { AppError } from '../../domain/errors.ts';

/** Time limit of a search, so that reading millions of messages cannot block other searches. */
export const searchMsMax = 5_000;

/** The error of a search that exceeded its time limit. */
export function searchTookTooLong(cause?: unknown): AppError {
  return new AppError('unavailable', 'The search took too long: limit it to one topic or to a shorter time range', {
    cause,
    retryAfterSeconds: 5,
  });
}
