import { describe, test } from '@jest/globals';
import { testEnginesHint, readTestEngines, type TestEngines } from './read-test-engines.ts';

/** Separate from read-test-engines.ts, which is also imported outside of Jest. */
export type { TestEngines } from './read-test-engines.ts';

/**
 * A Jest `describe` for tests that need the engines of a cluster. Without engines, it is skipped and its name states
 * the reason. With `CI=true` it fails, because a suite that tests nothing must not pass.
 */
export const describeWithEngines = (name: string, body: (engines: TestEngines) => void): void => {
  const engines = readTestEngines();
  if (engines) {
    describe(name, () => body(engines));
  } else if (process.env.CI === 'true') {
    describe(name, () => {
      test('has its engines', () => {
        throw new Error(`No engines: ${testEnginesHint}`);
      });
    });
  } else {
    describe.skip(`${name} (skipped, no engines: ${testEnginesHint})`, () => {
      test('needs engines', () => {});
    });
  }
};
