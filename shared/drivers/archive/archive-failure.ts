import { AppError } from '../../domain/errors.ts';

/** The error of a store that refuses or does not respond: 503 `Archive is unavailable: <reason>`. */
export function archiveFailure(reason: string, cause?: unknown): AppError {
  return new AppError('unavailable', `Archive is unavailable: ${reason}`, { cause, retryAfterSeconds: 1 });
}
