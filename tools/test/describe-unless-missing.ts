import { describe, test } from '@jest/globals';

/**
 * A Jest `describe` for tests with requirements on the machine. If `missing` lists any, the group is skipped and its
 * name contains the reason; with `CI=true` it fails, because a suite that tested nothing must not pass.
 */
export const describeUnlessMissing = (name: string, missing: readonly string[], body: () => void): void => {
  if (missing.length === 0) {
    describe(name, body);
  } else if (process.env.CI === 'true') {
    describe(name, () => {
      test('requirements are met', () => {
        throw new Error(`missing ${missing.join('; ')}`);
      });
    });
  } else {
    describe.skip(`${name} (skipped, missing: ${missing.join('; ')})`, () => {
      test('requirements are missing', () => {});
    });
  }
};
