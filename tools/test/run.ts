import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fastDir } from '../engines/fast-dir.ts';
import { installEngines } from '../engines/install-engines.ts';
import { installMoto } from '../engines/install-moto.ts';
import { missingPrograms } from '../engines/missing-programs.ts';
import { reportProgress } from '../engines/report-progress.ts';
import { buildPrograms } from '../build/build-programs.ts';
import { closingLines, type SuiteResult } from './closing-lines.ts';
import { groupsNamed, type Part } from './parts.ts';
import { provideEngines, type ProvidedEngines } from './provide-engines.ts';
import { runAgain } from './run-again.ts';
import { runPart, type PartOptions, type PartResult } from './run-part.ts';

const usage = `Usage: npm test [-- [--part NAME]… [PATTERN]…]

Runs the parts in order, all of them without --part; with patterns only the test files whose paths match.
`;

const isCi = process.env.CI === 'true';

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    options: { part: { type: 'string', multiple: true, default: [] }, help: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  await buildPrograms();
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupt.abort());
  const result = await runSuite(groupsNamed(values.part), positionals, interrupt.signal);
  const { lines, isSuccess } = closingLines(result, isCi);
  process.stdout.write(`\n${lines.join('\n')}\n`);
  if (interrupt.signal.aborted) return 130;
  return isSuccess ? 0 : 1;
};

/**
 * Runs the groups in order and the parts of a group concurrently. The engines start while parts run that do not need
 * them.
 */
const runSuite = async (groups: Part[][], patterns: string[], signal: AbortSignal): Promise<SuiteResult> => {
  const resultsDir = mkdtempSync(join(tmpdir(), 'tocsin-test-results-'));
  // Uses an in-memory directory if possible: servers sync on every write and would mostly wait for the disk.
  const filesDir = mkdtempSync(join(fastDir(), 'tocsin-test-files-'));
  const needs = new Set(groups.flat().map(({ engines }) => engines));
  const providing = needs.has('needed') || needs.has('used') ? timed(provideEngines()) : undefined;
  const installing = needs.has('used') ? installOwnEngines() : undefined;
  const results: PartResult[] = [];
  const notRun: string[] = [];
  let engines: TimedEngines | undefined;
  try {
    for (const group of groups) {
      if (signal.aborted) break;
      if (group.some((part) => part.engines)) engines = await providing;
      if (group.some((part) => part.engines === 'used')) await installing;
      const isRun = (part: Part) => !(part.engines === 'needed' && engines?.kind === 'missing');
      notRun.push(...group.filter((part) => !isRun(part)).map(({ name }) => name));
      const parts = group.filter((part) => isRun(part) && !(part.checksResults && patterns.length > 0));
      const env = { TMPDIR: filesDir, ...(engines?.kind === 'provided' && engines.environment) };
      const options = { env, signal, resultsDir, patterns };
      const first = await runGroup(parts, options);
      results.push(...(isCi ? await runFailedAgain(parts, first, options) : first));
    }
  } finally {
    const provided = await providing;
    if (provided?.kind === 'provided') await provided.stop();
    for (const dir of [resultsDir, filesDir]) rmSync(dir, { recursive: true });
  }
  return { results, notRun, ...(engines && { engines }) };
};

/** Runs parts concurrently. If there are several, each prints its output after it ends. */
const runGroup = (parts: Part[], options: PartOptions): Promise<PartResult[]> => {
  if (parts.length > 1) reportProgress(`\n── ${parts.map(({ name }) => name).join(', ')}: concurrently ──`);
  return Promise.all(
    parts.map((part) => {
      if (parts.length > 1) return runQuietly(part, options);
      reportProgress(`\n── ${part.name} ──`);
      return runPart(part, options);
    }),
  );
};

/** Prints the output of the part after it ends. */
const runQuietly = async (part: Part, options: PartOptions): Promise<PartResult> => {
  const outputFile = join(options.resultsDir, `${part.name}.out`);
  const result = await runPart(part, { ...options, outputFile });
  reportProgress(`\n── ${part.name} ──\n${readFileSync(outputFile, 'utf8')}`);
  return result;
};

/** Runs failed files again, one part after the other. */
const runFailedAgain = async (parts: Part[], first: PartResult[], options: PartOptions): Promise<PartResult[]> => {
  const results: PartResult[] = [];
  for (const [index, part] of parts.entries()) {
    results.push(part.kind === 'jest' ? await runAgain(part, first[index]!, options) : first[index]!);
  }
  return results;
};

/**
 * Installs the engines in advance: tests that kill engines start their own even if others use containers or given URLs,
 * and an install would exceed their time limits.
 */
const installOwnEngines = async () => {
  if (missingPrograms().length > 0) return; // the tests report the error
  await Promise.all([installEngines(reportProgress), installMoto(reportProgress)]).catch((error: unknown) =>
    reportProgress(String(error)),
  );
};

type TimedEngines = ProvidedEngines & { seconds: number };

const timed = async (providing: Promise<ProvidedEngines>): Promise<TimedEngines> => {
  const began = performance.now();
  const engines = await providing;
  return { ...engines, seconds: (performance.now() - began) / 1000 };
};

process.exitCode = await main().catch((error: unknown) => {
  reportProgress(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  return 2;
});
