import { expect, test } from '@jest/globals';
import { partOutcome } from './run-part.ts';

const counts = { passed: 3, failed: 0, skipped: 1 };

test('a run that ends well has the counts of its tests', () => {
  expect(partOutcome(0, counts, 'jest')).toEqual({ counts });
  expect(partOutcome(0, undefined, 'program')).toEqual({ counts: { passed: 0, failed: 0, skipped: 0 } });
});

test('a run whose tests failed has just these failures', () => {
  expect(partOutcome(1, { ...counts, failed: 2 }, 'jest')).toEqual({ counts: { ...counts, failed: 2 } });
});

test('a program that fails, and tests that end badly though none failed, count as one failure', () => {
  expect(partOutcome(2, undefined, 'program')).toEqual({
    counts: { passed: 0, failed: 1, skipped: 0 },
    trouble: 'exit code 2',
  });
  expect(partOutcome(1, counts, 'jest')).toEqual({ counts: { ...counts, failed: 1 }, trouble: 'exit code 1' });
  expect(partOutcome(0, undefined, 'jest')).toMatchObject({ counts: { failed: 1 }, trouble: 'wrote no results' });
});

test('tests that all passed and left something open are a failure', () => {
  expect(partOutcome('leak', counts, 'jest')).toMatchObject({ counts: { passed: 3, failed: 1 } });
});
