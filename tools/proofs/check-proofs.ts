import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reportProgress } from '../engines/report-progress.ts';
import { parts } from '../test/parts.ts';
import { resultsFileOf } from '../test/run-part.ts';
import { checkResults, readReport, enginePairs, type JestReport, type RunResults } from './check-results.ts';
import { proofsDocument } from './proofs-document.ts';
import { readProofs } from './read-proofs.ts';

/**
 * The last part of the suite: reads Jest's results of this run, and fails if a test that `docs/proofs.md` names
 * did not run or did not pass. If one part of a pair (embedded, cluster) has no results because engines are missing,
 * the check reports and skips it; with `CI=true` it fails.
 */
const root = join(import.meta.dirname, '..', '..');
const resultsDir = process.env['TEST_RESULTS_DIR'];
if (resultsDir === undefined) throw new Error('TEST_RESULTS_DIR is not set: run this with `npm test`');

const run: RunResults = new Map(
  parts.flatMap(({ name, kind }) => {
    const file = resultsFileOf(name, resultsDir);
    return kind === 'jest' && existsSync(file)
      ? [[name, readReport(JSON.parse(readFileSync(file, 'utf8')) as JestReport, root)]]
      : [];
  }),
);
const missing = enginePairs.flat().filter((name) => !run.has(name));
if (missing.length > 0) reportProgress(`Not checked because the part did not run: ${missing.join(', ')}`);

let faultCount = process.env['CI'] === 'true' ? missing.length : 0;
const rows = readProofs(proofsDocument, readFileSync(join(root, proofsDocument), 'utf8'));
const faults = checkResults(rows, run);
faults.forEach((fault) => reportProgress(fault));
reportProgress(`${proofsDocument}: ${rows.length} rows, ${faults.length} faults`);
faultCount += faults.length;
process.exitCode = faultCount === 0 ? 0 : 1;
