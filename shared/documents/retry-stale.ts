import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../domain/errors.ts';
import { StaleVersion } from '../ports/documents.ts';

/** Harm prevented: a document that everyone changes holding its writers for ever. Each round one of them gets through. */
const attemptsMax = 100;

/** Writers that collided part ways: up to this long after the first collision, ten times that after the tenth. */
const pauseStepMs = 2;

/**
 * Runs a read, decision and conditional write again from the read on when what it read was changed meanwhile.
 * `isLostRace` names further errors that mean the same. Throws `unavailable` when a hundred attempts lost.
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
        throw new AppError('unavailable', 'Too many changes of this at once', { cause: error, retryAfterSeconds: 1 });
      }
    }
    await pause(Math.random() * pauseStepMs * Math.min(round, 10));
  }
}
