import { isUnavailable } from '../domain/errors.ts';

const attemptsMax = 10;

/**
 * Opens a store, or does other work that fails as a whole. Tries again, up to ten times, while a store is unavailable:
 * if the tests keep all cores busy, a response can take longer than the time limit of a connection.
 */
export async function whenAvailable<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attemptsMax || !isUnavailable(error)) throw error;
    }
  }
}
