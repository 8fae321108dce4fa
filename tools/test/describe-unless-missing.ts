import { describe, test } from '@jest/globals';

/**
 * A Jest `describe` for tests that need something of the machine. Where `missing` names what is not there it is skipped, and
 * its name says why; with `CI=true` it fails instead, because a suite that tested nothing must not look green.
 */
export const describeUnlessMissing = (name: string, missing: readonly string[], body: () => void): void => {
  if (missing.length === 0) {
    describe(name, body);
  } else if (process.env.CI === 'true') {
    describe(name, () => {
      test('has what it needs', () => {
        throw new Error(`missing ${missing.join('; ')}`);
      });
    });
  } else {
    describe.skip(`${name} (skipped, missing: ${missing.join('; ')})`, () => {
      test('needs what is missing', () => {});
    });
  }
};
