import { expect, test } from '@jest/globals';
import { countsOf, formatCounts, sumCounts, type JestResults } from './test-counts.ts';

const results = (some: Partial<JestResults>): JestResults => ({
  success: true,
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numRuntimeErrorTestSuites: 0,
  ...some,
});

test('counts skipped and todo tests as skipped', () => {
  expect(countsOf(results({ numPassedTests: 5, numPendingTests: 2, numTodoTests: 1 }))).toEqual({
    passed: 5,
    failed: 0,
    skipped: 3,
  });
});

test('counts a file that cannot run as one failure in addition to failed tests', () => {
  const counts = countsOf(results({ success: false, numFailedTests: 2, numRuntimeErrorTestSuites: 1 }));
  expect(counts.failed).toBe(3);
});

test('counts one failure for a run that failed without a failed test', () => {
  expect(countsOf(results({ success: false, numPassedTests: 4 }))).toEqual({ passed: 4, failed: 1, skipped: 0 });
});

test('formats the sum as one line', () => {
  const parts = [
    { passed: 1, failed: 0, skipped: 2 },
    { passed: 10, failed: 1, skipped: 0 },
  ];
  expect(formatCounts(sumCounts(parts))).toBe('11 passed, 1 failed, 2 skipped');
  expect(formatCounts(sumCounts([]))).toBe('0 passed, 0 failed, 0 skipped');
});
