import type { ProvidedEngines } from './provide-engines.ts';
import type { PartResult } from './run-part.ts';
import { formatCounts, sumCounts } from './test-counts.ts';
import { unsteadyAllowed, type AllowedTest } from './unsteady-allowed.ts';

export type SuiteResult = {
  results: PartResult[];
  /** The parts that need engines, if no engines are available. */
  notRun: string[];
  /** Absent if no part uses engines. */
  engines?: ProvidedEngines & { seconds: number };
};

/**
 * The lines at the end of a run: the seconds and counts of each part, the source of the engines, the parts that did not
 * run with the reasons, the unsteady tests, and the sum as the last line. An unsteady test counts as failed unless
 * `allowed` lists it. On CI a part that did not run counts as one failure.
 */
export const closingLines = (
  { results, notRun, engines }: SuiteResult,
  isCi: boolean,
  allowed: readonly AllowedTest[] = unsteadyAllowed,
): { lines: string[]; isSuccess: boolean } => {
  const unrun = { passed: 0, failed: isCi ? notRun.length : 0, skipped: 0 };
  const unsteady = results.flatMap((result) => unsteadyTests(result, allowed));
  const red = unsteady.filter(({ reason }) => reason === undefined).length;
  const total = sumCounts([...results.map(({ counts }) => counts), unrun, { passed: -red, failed: red, skipped: 0 }]);
  return {
    lines: [
      ...results.map(partLine),
      ...(engines?.kind === 'provided'
        ? [row('engines', engines.seconds, `from ${engines.source}, concurrently with the parts above`)]
        : []),
      ...notRun.map((name) => `${name.padEnd(nameWidth)}  NOT RUN`),
      ...(engines?.kind === 'missing'
        ? ['No engines for contracts, acceptance and faults of the cluster:', ...engines.reasons.map(indent)]
        : []),
      ...unsteady.map(unsteadyLine),
      '',
      formatCounts(total),
    ],
    isSuccess: total.failed === 0,
  };
};

const nameWidth = 20;

const row = (name: string, seconds: number, text: string) =>
  `${name.padEnd(nameWidth)}${seconds.toFixed(1).padStart(7)} s  ${text}`;

const partLine = ({ name, kind, seconds, counts, trouble }: PartResult) => {
  const outcome = kind === 'jest' ? formatCounts(counts) : counts.failed === 0 ? 'ok' : 'failed';
  return row(name, seconds, trouble ? `${outcome} (${trouble})` : outcome);
};

interface UnsteadyTest {
  readonly part: string;
  readonly test: string;
  /** Why the test does not fail the run; undefined if it does. */
  readonly reason: string | undefined;
}

const unsteadyTests = ({ name, unsteady = [] }: PartResult, allowed: readonly AllowedTest[]): UnsteadyTest[] =>
  unsteady.map((test) => ({
    part: name,
    test,
    reason: allowed.find((one) => test === one.test || test.endsWith(`/${one.test}`))?.reason,
  }));

const unsteadyLine = ({ part, test, reason }: UnsteadyTest) =>
  reason === undefined
    ? `UNSTEADY in ${part}, failed and then passed: ${test}`
    : `UNSTEADY in ${part}, allowed (${reason}): ${test}`;

const indent = (text: string) => `  ${text}`;
