import { readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Part } from './parts.ts';
import { runToEnd, type RunOutcome } from './run-to-end.ts';
import { countsOf, noCounts, type JestResults, type TestCounts } from './test-counts.ts';

export type PartResult = {
  name: string;
  kind: Part['kind'];
  seconds: number;
  counts: TestCounts;
  /** The failure, if it is not a failed test. */
  trouble?: string;
  unsteady?: UnsteadyTest[];
};

/** A test that failed and then passed on the second run. */
export type UnsteadyTest = {
  /** `<file> › <full name>`, or the file if it could not run the first time. */
  name: string;
  /** The first lines of its failure. */
  failure: string[];
};

export type PartOptions = {
  /** Added to the environment of the suite. */
  env: Record<string, string>;
  signal: AbortSignal;
  /** Directory of Jest's results, `<part>.json`. Programs receive it as `TEST_RESULTS_DIR`. */
  resultsDir: string;
  /** File for the part's output; default: the output of the suite. */
  outputFile?: string;
  /** Limits the run to test files whose path matches one of these. */
  patterns: string[];
};

/** The slowest part takes a few minutes on two cores. */
const timeoutMs = 30 * 60_000;

/**
 * Runs one part, streams its output, and returns its counts. A failed program and a run without results count
 * as one failure.
 */
export const runPart = async (part: Part, options: PartOptions): Promise<PartResult> => {
  const began = performance.now();
  const resultsFile = resultsFileOf(part.name, options.resultsDir);
  const doneFile = part.kind === 'jest' ? { doneFile: resultsFile } : {};
  const args = part.kind === 'jest' ? jestCommand(part, resultsFile, options.patterns) : part.args;
  const own = part.kind === 'jest' ? part.env : { TEST_RESULTS_DIR: options.resultsDir };
  const env = { ...suiteEnvironment(), ...own, ...options.env };
  const outcome = await runToEnd(args, {
    env,
    signal: options.signal,
    timeoutMs,
    ...doneFile,
    ...(options.outputFile && { outputFile: options.outputFile }),
    ...(part.kind === 'program' && part.isLowPriority && { isLowPriority: true }),
  });
  const seconds = (performance.now() - began) / 1000;
  const counts = part.kind === 'jest' ? readCounts(resultsFile) : undefined;
  return { name: part.name, kind: part.kind, seconds, ...partOutcome(outcome, counts, part.kind) };
};

/** The results file of a part. */
export const resultsFileOf = (partName: string, resultsDir: string): string => join(resultsDir, `${partName}.json`);

const jestCommand = (part: Extract<Part, { kind: 'jest' }>, resultsFile: string, patterns: string[]) => [
  '--disable-warning=TimeoutNegativeWarning',
  'node_modules/jest/bin/jest.js',
  // Before --selectProjects, which would parse the patterns as projects.
  ...patterns,
  ...['--selectProjects', part.project, '--passWithNoTests', '--json', `--outputFile=${resultsFile}`],
  // By default Jest reserves a core for itself. With two cores that means one file at a time, which takes a third
  // longer.
  `--maxWorkers=${Math.round(Math.max(availableParallelism(), 2) * (part.filesPerCore ?? 1))}`,
];

/**
 * Removes the URLs of a developer's own cluster from the environment. The servers and child processes that tests start
 * share Node's compile cache, which saves 40 % of the CPU time of a start.
 */
const suiteEnvironment = (): NodeJS.ProcessEnv => {
  const { KAFKA_BROKERS: _kafka, MONGO_URL: _mongo, REDIS_URL: _redis, ...rest } = process.env;
  return { NODE_COMPILE_CACHE: join(tmpdir(), 'tocsin-compile-cache'), ...rest };
};

const readCounts = (resultsFile: string): TestCounts | undefined => {
  try {
    return countsOf(JSON.parse(readFileSync(resultsFile, 'utf8')) as JestResults);
  } catch {
    return undefined;
  }
};

const troubles = {
  timeout: `ended after ${timeoutMs / 60_000} min`,
  leak: 'a handle was left open: Jest did not exit',
  aborted: 'interrupted',
};

/** Combines the outcome of the run with its counts, if it has any. */
export const partOutcome = (
  outcome: RunOutcome,
  counts: TestCounts | undefined,
  kind: Part['kind'],
): Pick<PartResult, 'counts' | 'trouble'> => {
  if (outcome === 0)
    return counts || kind === 'program' ? { counts: counts ?? noCounts } : failed(noCounts, 'wrote no results');
  if (typeof outcome === 'string') return failed(counts ?? noCounts, troubles[outcome]);
  if (counts && counts.failed > 0) return { counts };
  return failed(counts ?? noCounts, `exit code ${outcome}`);
};

const failed = (counts: TestCounts, trouble: string) => ({ counts: { ...counts, failed: counts.failed + 1 }, trouble });
