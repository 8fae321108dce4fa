import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { provideEngines } from '../test/provide-engines.ts';
import { runPart } from '../test/run-part.ts';

const usage = `Usage: npm run fuzz -- [--engine embedded|cluster] [--minutes N] [--seed N]

Runs Schemathesis for N minutes (3 to 25, default 10): it generates requests and request sequences for every operation of
/openapi.json and sends them to a new server. --seed repeats the requests of an earlier run, whose test name shows the seed.
`;

/** Shorter runs do not cover every schema variant of every operation once. */
const minutesMin = 3;
/** The test runner ends a part after half an hour. */
const minutesMax = 25;

async function main(): Promise<number> {
  const {
    values: { engine, minutes, seed },
  } = parseArgs({
    options: {
      engine: { type: 'string', default: 'embedded' },
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string' },
    },
  });
  if (engine !== 'embedded' && engine !== 'cluster') throw new Error(`--engine ${engine}: must be embedded or cluster`);
  if (!(Number(minutes) >= minutesMin && Number(minutes) <= minutesMax))
    throw new Error(`--minutes ${minutes}: must be ${minutesMin} to ${minutesMax}`);
  if (seed !== undefined && !/^\d{1,18}$/.test(seed)) throw new Error(`--seed ${seed}: must be a whole number`);
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => interrupt.abort());
  const engines = engine === 'cluster' ? await provideEngines() : undefined;
  if (engines?.kind === 'missing') throw new Error(`no engines: ${engines.reasons.join('; ')}`);
  const resultsDir = mkdtempSync(join(tmpdir(), 'tocsin-fuzz-results-'));
  try {
    const env = {
      TOCSIN_ENGINE: engine,
      TOCSIN_FUZZ_MINUTES: minutes,
      ...(seed === undefined ? {} : { TOCSIN_FUZZ_SEED: seed }),
    };
    const { counts } = await runPart(
      { name: 'fuzz', kind: 'jest', project: 'schemathesis' },
      {
        env: { ...env, ...engines?.environment },
        signal: interrupt.signal,
        resultsDir,
        patterns: [],
      },
    );
    return counts.failed === 0 && counts.passed > 0 ? 0 : 1;
  } finally {
    rmSync(resultsDir, { recursive: true });
    await engines?.stop();
  }
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  return 2;
});
