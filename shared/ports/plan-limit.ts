import { AppError } from '../domain/errors.ts';

/** How long `expired` and its like may work. Harm prevented: a plan that nobody waits for any more. */
export const planMsMax = 60_000;

/** What they throw when their time limit ended them. */
export function planTookTooLong(cause?: unknown): AppError {
  return new AppError(
    'unavailable',
    'Looking at what has expired took too long: try again when less is going on, or with an earlier time',
    { cause, retryAfterSeconds: 60 },
  );
}
