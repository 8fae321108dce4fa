import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installEngines } from '../engines/install-engines.ts';
import { missingPrograms } from '../engines/missing-programs.ts';
import { reportProgress } from '../engines/report-progress.ts';
import { closingLines, type SuiteResult } from './closing-lines.ts';
import { partsNamed, type Part } from './parts.ts';
import { provideEngines, type ProvidedEngines } from './provide-engines.ts';
import { runPart, type PartResult } from './run-part.ts';

const usage = `Usage: npm test [-- [--part NAME]… [PATTERN]…]

Runs the parts in order, all of them without --part; with patterns only the test files whose paths match.
`;

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    options: { part: { type: 'string', multiple: true, default: [] }, help: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupt.abort());
  const result = await runSuite(partsNamed(values.part), positionals, interrupt.signal);
  const { lines, isSuccess } = closingLines(result, process.env.CI === 'true');
  process.stdout.write(`\n${lines.join('\n')}\n`);
  if (interrupt.signal.aborted) return 130;
  return isSuccess ? 0 : 1;
};

/** Runs the parts one by one; meanwhile the engines are installed and started beside those that do not need them. */
const runSuite = async (parts: Part[], patterns: string[], signal: AbortSignal): Promise<SuiteResult> => {
  const resultsDir = mkdtempSync(join(tmpdir(), 'tocsin-test-results-'));
  const providing = parts.some(({ engines }) => engines !== undefined) ? timed(provideEngines()) : undefined;
  const results: PartResult[] = [];
  const notRun: string[] = [];
  let engines: TimedEngines | undefined;
  try {
    for (const part of parts) {
      if (signal.aborted) break;
      if (part.judgesResults && patterns.length > 0) continue;
      if (part.engines) engines = await providing;
      if (part.engines === 'needed' && engines?.kind === 'missing') {
        notRun.push(part.name);
        continue;
      }
      if (part.engines === 'used') await installOwnEngines();
      reportProgress(`\n── ${part.name} ──`);
      const env = engines?.kind === 'provided' ? engines.environment : {};
      results.push(await runPart(part, { env, signal, resultsDir, patterns }));
    }
  } finally {
    const provided = await providing;
    if (provided?.kind === 'provided') await provided.stop();
    rmSync(resultsDir, { recursive: true });
  }
  return { results, notRun, ...(engines && { engines }) };
};

/**
 * Tests that kill engines start their own, also where containers or given URLs serve the others; an install must not
 * eat their time.
 */
const installOwnEngines = async () => {
  if (missingPrograms().length > 0) return; // these tests tell it themselves
  await installEngines(reportProgress).catch((error: unknown) => reportProgress(String(error)));
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
