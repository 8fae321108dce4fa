import { describe, test } from '@jest/globals';
import { missingPrograms } from './missing-programs.ts';

/**
 * A Jest `describe` for tests that start engines of their own, because they kill, pause or fill them. Where the
 * engines cannot be had it is skipped and its name says what is missing; with `CI=true` it fails instead.
 */
export const describeWithOwnEngines = (name: string, body: () => void): void => {
  const missing = missingPrograms();
  if (missing.length === 0) {
    describe(name, body);
  } else if (process.env.CI === 'true') {
    describe(name, () => {
      test('has its engines', () => {
        throw new Error(`No engines of its own: missing ${missing.join('; ')}`);
      });
    });
  } else {
    describe.skip(`${name} (skipped, missing: ${missing.join('; ')})`, () => {
      test('needs engines of its own', () => {});
    });
  }
};
