import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { reportProgress } from '../engines/report-progress.ts';
import type { Part } from './parts.ts';
import { resultsFileOf, runPart, type PartOptions, type PartResult, type UnsteadyTest } from './run-part.ts';
import { countsOf, type JestResults } from './test-counts.ts';

type JestPart = Extract<Part, { kind: 'jest' }>;

/** The fields of Jest's `--json` output that merging two runs needs. */
export interface RunReport extends JestResults {
  readonly testResults: readonly FileReport[];
}

interface FileReport {
  /** The file's absolute path. */
  readonly name: string;
  readonly status: string;
  /** Why the file could not run. */
  readonly message?: string;
  readonly assertionResults: readonly TestReport[];
}

interface TestReport {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages?: readonly string[];
}

/** More failed files indicate a broken change or machine, so a second run is not useful. */
const filesMax = 3;

/**
 * Runs the failed test files of a part once more, alone, and returns the merged result. `unsteady` names the tests that
 * passed only now. A part with more than three failed files, or that failed for another reason, keeps its result.
 * Rewrites the results file of the part.
 */
export async function runAgain(part: JestPart, first: PartResult, options: PartOptions): Promise<PartResult> {
  if (first.trouble !== undefined || first.counts.failed === 0) return first;
  const reportFile = resultsFileOf(part.name, options.resultsDir);
  const report = readReport(reportFile);
  const files = report.testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
  if (files.length === 0 || files.length > filesMax) return first;
  reportProgress(`\n── ${part.name}: running failed files again, alone ──`);
  // Nothing else runs now.
  const again: JestPart = { ...part, name: `${part.name}-again`, filesPerCore: 0.5 };
  const second = await runPart(again, { ...options, patterns: files.map((name) => `${RegExp.escape(name)}$`) });
  const seconds = first.seconds + second.seconds;
  if (second.trouble !== undefined) return { ...first, seconds };
  const secondFile = resultsFileOf(again.name, options.resultsDir);
  const { merged, unsteady } = mergeRuns(report, readReport(secondFile));
  rmSync(secondFile);
  writeFileSync(reportFile, JSON.stringify(merged));
  return { ...first, seconds, counts: countsOf(merged), unsteady };
}

const readReport = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as RunReport;

/** Replaces files of the first run by those of the second, and lists the tests that failed only in the first run. */
export function mergeRuns(first: RunReport, second: RunReport): { merged: RunReport; unsteady: UnsteadyTest[] } {
  const again = new Map(second.testResults.map((file) => [file.name, file]));
  const testResults = first.testResults.map((file) => again.get(file.name) ?? file);
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const count = (status: string) => tests.filter((one) => one.status === status).length;
  const merged = {
    testResults,
    success: testResults.every(({ status }) => status !== 'failed'),
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    numRuntimeErrorTestSuites: testResults.filter(isBroken).length,
  };
  const passed = new Set(second.testResults.flatMap((file) => testsOf(file, 'passed')).map(({ name }) => name));
  const failedOnce = first.testResults
    .flatMap((file) => testsOf(file, 'failed'))
    .filter(({ name }) => passed.has(name));
  const ranOnlyAgain = first.testResults.filter((file) => isBroken(file) && again.get(file.name)?.status === 'passed');
  return {
    merged,
    unsteady: [...failedOnce, ...ranOnlyAgain.map(({ name, message }) => ({ name, failure: firstLines(message) }))],
  };
}

/** Whether the file could not run at all. */
const isBroken = (file: FileReport) => file.status === 'failed' && testsOf(file, 'failed').length === 0;

const testsOf = ({ name, assertionResults }: FileReport, status: string): UnsteadyTest[] =>
  assertionResults
    .filter((one) => one.status === status)
    .map(({ fullName, failureMessages }) => ({
      name: `${name} › ${fullName}`,
      failure: firstLines(failureMessages?.[0]),
    }));

const linesMax = 20;

/** The lines of a failure that are not empty, without colors, up to the stack. */
const firstLines = (text = ''): string[] => {
  const lines = stripVTControlCharacters(text).split('\n');
  const stack = lines.findIndex((line) => /^\s+at /.test(line));
  return lines
    .slice(0, stack < 0 ? undefined : stack + 1)
    .filter((line) => line.trim() !== '')
    .slice(0, linesMax);
};
