import type { ProvidedEngines } from './provide-engines.ts';
import type { PartResult } from './run-part.ts';
import { formatCounts, sumCounts } from './test-counts.ts';

export type SuiteResult = {
  results: PartResult[];
  /** The names of the parts that need engines when there are none. */
  notRun: string[];
  /** Absent when no part had to do with engines. */
  engines?: ProvidedEngines & { seconds: number };
};

/**
 * What is printed at the end: each part with its seconds and counts, where the engines came from, what was not run
 * and why, which tests passed only the second time, and as the last line the sum. On CI a part that was not run counts as a failure, because nobody reads the
 * lines above the last.
 */
export const closingLines = (
  { results, notRun, engines }: SuiteResult,
  isCi: boolean,
): { lines: string[]; isSuccess: boolean } => {
  const unrun = { passed: 0, failed: isCi ? notRun.length : 0, skipped: 0 };
  const total = sumCounts([...results.map(({ counts }) => counts), unrun]);
  return {
    lines: [
      ...results.map(partLine),
      ...(engines?.kind === 'provided'
        ? [row('engines', engines.seconds, `from ${engines.source}, beside the parts above`)]
        : []),
      ...notRun.map((name) => `${name.padEnd(nameWidth)}  NOT RUN`),
      ...(engines?.kind === 'missing'
        ? ['No engines for contracts, acceptance and faults of the cluster:', ...engines.reasons.map(indent)]
        : []),
      ...results.flatMap(unsteadyLines),
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

const unsteadyLines = ({ name, unsteady = [] }: PartResult) =>
  unsteady.map((test) => `UNSTEADY in ${name}, passed only when run again: ${test}`);

const indent = (text: string) => `  ${text}`;
