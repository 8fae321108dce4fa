import { AppError } from '../domain/errors.ts';

/** How long a search may work. Harm prevented: one that reads millions of messages for as long as it takes. */
export const searchMsMax = 5_000;

/** What a search throws that was ended by its time limit. */
export function searchTookTooLong(cause?: unknown): AppError {
  return new AppError('unavailable', 'The search took too long: ask for one topic, or for a shorter span of time', {
    cause,
    retryAfterSeconds: 5,
  });
}
