import { expect, test } from '@jest/globals';
import { partOutcome } from './run-part.ts';

const counts = { passed: 3, failed: 0, skipped: 1 };

test('returns the counts of a successful run', () => {
  expect(partOutcome(0, counts, 'jest')).toEqual({ counts });
  expect(partOutcome(0, undefined, 'program')).toEqual({ counts: { passed: 0, failed: 0, skipped: 0 } });
});

test('counts only the failed tests of a failed run', () => {
  expect(partOutcome(1, { ...counts, failed: 2 }, 'jest')).toEqual({ counts: { ...counts, failed: 2 } });
});

test('counts one failure for a failed program and for a failed run without a failed test', () => {
  expect(partOutcome(2, undefined, 'program')).toEqual({
    counts: { passed: 0, failed: 1, skipped: 0 },
    trouble: 'exit code 2',
  });
  expect(partOutcome(1, counts, 'jest')).toEqual({ counts: { ...counts, failed: 1 }, trouble: 'exit code 1' });
  expect(partOutcome(0, undefined, 'jest')).toMatchObject({ counts: { failed: 1 }, trouble: 'wrote no results' });
});

test('counts a failure if tests passed but left a handle open', () => {
  expect(partOutcome('leak', counts, 'jest')).toMatchObject({ counts: { passed: 3, failed: 1 } });
});
