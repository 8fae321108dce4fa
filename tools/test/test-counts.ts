/** The counts in the last line of the suite. */
export type TestCounts = { passed: number; failed: number; skipped: number };

/** The fields of Jest's `--json` output with the counts. */
export type JestResults = {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numRuntimeErrorTestSuites: number;
};

export const noCounts: TestCounts = { passed: 0, failed: 0, skipped: 0 };

/**
 * Returns the counts of one Jest run. A file that could not run, and a run that failed without a failed test, count
 * as one failure.
 */
export const countsOf = (results: JestResults): TestCounts => {
  const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
  return {
    passed: results.numPassedTests,
    failed: failed === 0 && !results.success ? 1 : failed,
    skipped: results.numPendingTests + results.numTodoTests,
  };
};

export const sumCounts = (all: TestCounts[]): TestCounts =>
  all.reduce(
    (sum, counts) => ({
      passed: sum.passed + counts.passed,
      failed: sum.failed + counts.failed,
      skipped: sum.skipped + counts.skipped,
    }),
    noCounts,
  );

export const formatCounts = ({ passed, failed, skipped }: TestCounts): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;
