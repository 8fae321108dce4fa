import { afterAll } from '@jest/globals';
import type { Engine } from '../ports/engine.ts';
import { newTestPlace, openTestEngine } from './test-engine.ts';

/** Opens an embedded engine for the tests of a file, and closes and removes it afterwards. */
export async function useTestEngine(): Promise<Engine> {
  const place = newTestPlace();
  const engine = await openTestEngine(place);
  afterAll(async () => {
    await engine.close();
    await place.remove();
  });
  return engine;
}
