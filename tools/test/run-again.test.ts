import { expect, test } from '@jest/globals';
import { mergeRuns, type RunReport } from './run-again.ts';
import { countsOf } from './test-counts.ts';

const fileReport = (name: string, tests: Record<string, string>, status?: string) => ({
  name,
  status: status ?? (Object.values(tests).includes('failed') ? 'failed' : 'passed'),
  message: status === undefined ? '' : 'broken import',
  assertionResults: Object.entries(tests).map(([fullName, one]) => ({
    fullName,
    status: one,
    failureMessages:
      one === 'failed' ? ['Error: \u001b[2mtoo late\u001b[22m\n\nby 2 s\n    at a.ts:1\n    at b.ts:2'] : [],
  })),
});

/** Merging ignores the sums of the first run. */
const report = (...testResults: ReturnType<typeof fileReport>[]): RunReport => ({
  testResults,
  success: false,
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numRuntimeErrorTestSuites: 0,
});

const steady = fileReport('/a.test.ts', { one: 'passed', two: 'pending' });

const failure = ['Error: too late', 'by 2 s', '    at a.ts:1'];

test('names a test that passes on the second run, with its failure', () => {
  const first = report(steady, fileReport('/b.test.ts', { three: 'failed', four: 'passed' }));
  const { merged, unsteady } = mergeRuns(first, report(fileReport('/b.test.ts', { three: 'passed', four: 'passed' })));
  expect(countsOf(merged)).toEqual({ passed: 3, failed: 0, skipped: 1 });
  expect(unsteady).toEqual([{ name: '/b.test.ts › three', failure }]);
});

test('counts a test as failed if it fails twice or only on the second run', () => {
  const first = report(steady, fileReport('/b.test.ts', { three: 'failed', four: 'passed', five: 'failed' }));
  const second = report(fileReport('/b.test.ts', { three: 'failed', four: 'failed', five: 'passed' }));
  const { merged, unsteady } = mergeRuns(first, second);
  expect(countsOf(merged)).toEqual({ passed: 2, failed: 2, skipped: 1 });
  expect(unsteady).toEqual([{ name: '/b.test.ts › five', failure }]);
});

test('counts a file that could not run as a failure unless the second run succeeds', () => {
  const first = report(steady, fileReport('/b.test.ts', {}, 'failed'));
  const stillBroken = mergeRuns(first, report(fileReport('/b.test.ts', {}, 'failed')));
  expect(countsOf(stillBroken.merged)).toEqual({ passed: 1, failed: 1, skipped: 1 });
  expect(stillBroken.unsteady).toEqual([]);
  const mended = mergeRuns(first, report(fileReport('/b.test.ts', { three: 'passed' })));
  expect(countsOf(mended.merged)).toEqual({ passed: 2, failed: 0, skipped: 1 });
  expect(mended.unsteady).toEqual([{ name: '/b.test.ts', failure: ['broken import'] }]);
});
