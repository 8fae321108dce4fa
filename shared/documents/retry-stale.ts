import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../domain/errors.ts';
import { StaleVersion } from '../ports/documents.ts';

/** Limits the retries on a contended document. In each round, one writer succeeds. */
const attemptsMax = 100;

/** The maximum random pause after the first conflict; ten times as long after the tenth. */
const pauseStepMs = 2;

/**
 * Retries a read, decision and conditional write while it fails with StaleVersion or an error that `isLostRace`
 * accepts. Throws `unavailable` after a hundred lost attempts.
 */
export async function retryStale<T>(
  attempt: () => Promise<T>,
  isLostRace: (error: unknown) => boolean = () => false,
): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StaleVersion) && !isLostRace(error)) throw error;
      if (round === attemptsMax) {
        throw new AppError('unavailable', 'Too many concurrent changes', { cause: error, retryAfterSeconds: 1 });
      }
    }
    await pause(Math.random() * pauseStepMs * Math.min(round, 10));
  }
}
