import { AppError } from '../../domain/errors.ts';

/** Time limit of retention queries such as `expired`, so that an abandoned plan does not load the store. */
export const planMsMax = 60_000;

/** The error of a retention query that exceeded its time limit. */
export function planTookTooLong(cause?: unknown): AppError {
  return new AppError(
    'unavailable',
    'Counting the expired messages took too long: try again at a quieter time, or with an earlier time',
    { cause, retryAfterSeconds: 60 },
  );
}
