/** What the suite's last line sums up. */
export type TestCounts = { passed: number; failed: number; skipped: number };

/** The fields that count of what Jest writes with `--json`. */
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
 * The counts of one run of Jest. A file that could not be run at all, and a run that failed for no single test, count
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
