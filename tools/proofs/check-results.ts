import { embeddedOnly } from '../test/embedded-only.ts';
import { asExpression } from './check-sources.ts';
import { securitySection } from './proofs-document.ts';
import type { ProofRow, TestReference } from './read-proofs.ts';

/** The fields of Jest's `--json` output that the check needs. */
export interface JestReport {
  readonly testResults: readonly {
    /** The file's absolute path. */
    readonly name: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

/** Test results of a run by part, file and name. */
export type RunResults = ReadonlyMap<string, ReadonlyMap<string, readonly TestResult[]>>;
interface TestResult {
  readonly name: string;
  readonly status: string;
}

/** Returns the results of one part by file path relative to `root`. */
export function readReport(report: JestReport, root: string): Map<string, TestResult[]> {
  return new Map(
    report.testResults.map(({ name, assertionResults }) => [
      name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name,
      assertionResults.map(({ ancestorTitles, title, status }) => ({
        name: [...ancestorTitles, title].join(' › '),
        status,
      })),
    ]),
  );
}

/** Pairs of parts that run the same tests, one on each engine. The cluster leaves out the files of `embeddedOnly`. */
export const enginePairs = [
  ['acceptance-embedded', 'acceptance-cluster'],
  ['services-embedded', 'services-cluster'],
] as const;

/**
 * Returns the faults of the rows after a run as sentences. A named test must have passed in every part that contains
 * its file; if `name` matches several tests, all of them. Each row outside of the security section needs a test that
 * runs on both engines or whose file is in `embeddedOnly`. A group that `describeUnlessMissing` skips because a program
 * is missing is not a fault; with `CI=true` the group itself fails.
 */
export function checkResults(rows: readonly ProofRow[], run: RunResults): string[] {
  return rows.flatMap((row) => {
    const place = `${row.document}:${row.line}: ${row.row}:`;
    const faults = row.tests.flatMap((test) => faultsOf(test, run)).map((fault) => `${place} ${fault}`);
    const runsOnEngine = row.tests.some(({ file }) =>
      enginePairs.some((pair) => pair.some((part) => run.get(part)?.has(file) === true)),
    );
    return runsOnEngine || row.section === securitySection
      ? faults
      : [...faults, `${place} names no test that runs on an engine`];
  });
}

function faultsOf({ file, name }: TestReference, run: RunResults): string[] {
  const ran = [...run].filter(([, files]) => files.has(file));
  if (ran.length === 0) return [`${file} was not run`];
  const missingTwins = enginePairs
    .flatMap((pair) => (pair.some((part) => ran.some(([one]) => one === part)) ? pair : []))
    .filter((part) => !(embeddedOnly.has(file) && part.endsWith('-cluster')))
    .filter((part) => run.has(part) && !ran.some(([one]) => one === part));
  const form = asExpression(name);
  return [
    ...missingTwins.map((part) => `${file} was not run by ${part}`),
    ...ran.flatMap(([part, files]) => {
      const results = files.get(file)!.filter((result) => form.test(result.name));
      if (results.length === 0) return isLeftOut(name, files.get(file)!) ? [] : [`"${name}" was not run by ${part}`];
      return results
        .filter(({ status }) => status !== 'passed')
        .map((result) => `"${result.name}" is ${result.status} in ${part}`);
    }),
  ];
}

/** Matches the name of a group skipped because of a missing requirement, and its only test. */
const leftOutGroup = / \(skipped, missing: .*\) › requirements are missing$/;

function isLeftOut(name: string, results: readonly TestResult[]): boolean {
  return results.some(
    (result) => leftOutGroup.test(result.name) && name.startsWith(`${result.name.replace(leftOutGroup, '')} › `),
  );
}
