import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reportProgress } from '../engines/report-progress.ts';
import { parts } from '../test/parts.ts';
import { resultsFileOf } from '../test/run-part.ts';
import { provenDocuments } from './documents.ts';
import { checkResults, readReport, enginePairs, type JestReport, type RunResults } from './check-results.ts';
import { readProofs } from './read-proofs.ts';

/**
 * The last part of the suite: reads what Jest wrote in this run, and fails when a test that a document names as a proof was
 * not run or has not passed. Of the parts that run the same tests on an engine each, those without results, as there are where
 * no engines are, are named and left out; with `CI=true` they are a failure.
 */
const root = join(import.meta.dirname, '..', '..');
const resultsDir = process.env['TEST_RESULTS_DIR'];
if (resultsDir === undefined) throw new Error('TEST_RESULTS_DIR is not set: run this by `npm test`');

const run: RunResults = new Map(
  parts.flatMap(({ name, kind }) => {
    const file = resultsFileOf(name, resultsDir);
    return kind === 'jest' && existsSync(file)
      ? [[name, readReport(JSON.parse(readFileSync(file, 'utf8')) as JestReport, root)]]
      : [];
  }),
);
const missing = enginePairs.flat().filter((name) => !run.has(name));
if (missing.length > 0) reportProgress(`Not looked at, since not run: ${missing.join(', ')}`);

let faultCount = process.env['CI'] === 'true' ? missing.length : 0;
for (const { path, onBothEngines } of provenDocuments) {
  const rows = readProofs(path, readFileSync(join(root, path), 'utf8'));
  const faults = checkResults(rows, run, onBothEngines);
  faults.forEach((fault) => reportProgress(fault));
  reportProgress(`${path}: ${rows.length} rows, ${faults.length} faults`);
  faultCount += faults.length;
}
process.exitCode = faultCount === 0 ? 0 : 1;
