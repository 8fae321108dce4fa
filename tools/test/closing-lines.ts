import type { ProvidedEngines } from './provide-engines.ts';
import type { PartResult, UnsteadyTest } from './run-part.ts';
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
 * run with the reasons, the unsteady tests with their failures, and the sum as the last line. An unsteady test counts
 * as failed unless `allowed` lists it. On CI a part that did not run counts as one failure.
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
      ...unsteady.flatMap(unsteadyLines),
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

interface FoundTest extends UnsteadyTest {
  readonly part: string;
  /** Why the test does not fail the run; undefined if it does. */
  readonly reason: string | undefined;
}

const unsteadyTests = ({ name, unsteady = [] }: PartResult, allowed: readonly AllowedTest[]): FoundTest[] =>
  unsteady.map((test) => ({
    ...test,
    part: name,
    reason: allowed.find((one) => test.name === one.test || test.name.endsWith(`/${one.test}`))?.reason,
  }));

const unsteadyLines = ({ part, name, failure, reason }: FoundTest) => [
  reason === undefined
    ? `UNSTEADY in ${part}, failed and then passed: ${name}`
    : `UNSTEADY in ${part}, allowed (${reason}): ${name}`,
  ...failure.map(indent),
];

const indent = (text: string) => `  ${text}`;
