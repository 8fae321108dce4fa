import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { schemathesisConfig, type RunConfig } from './schemathesis-config.ts';

/** How much is tried. */
export interface RunSize {
  /** Requests made up for each operation in the fuzzing phase. */
  readonly examples: number;
  /** `examples`, `coverage`, `fuzzing`, `stateful`. */
  readonly phases: readonly string[];
  /** The same seed makes up the same requests. */
  readonly seed: number;
  /** Repeats what is made up by chance, and rows of requests, until so much time is over; once without it. */
  readonly seconds?: number;
  /** Prevents a run that does not come to an end. */
  readonly timeoutMs: number;
}

/** What is read of Schemathesis's report. */
export interface Outcome {
  readonly exitCode: number;
  /** Kinds of failures, each with the operations that have it. */
  readonly failures: readonly { readonly title: string; readonly operations: readonly string[] }[];
  readonly errors: readonly unknown[];
  /** How many answers of each status each operation (`GET /sse`) gave to each credential. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, number>>>>>>;
  /** All that it printed: each failure with the request that shows it. */
  readonly output: string;
}

interface Report {
  readonly exit_code: number;
  readonly failures: readonly { readonly title: string; readonly operations: readonly string[] }[];
  readonly errors: readonly unknown[];
}

/** Prevents a report without an end in memory. */
const outputBytesMax = 64 * 1024 * 1024;

/**
 * Runs Schemathesis, installed in `dir`, against the server at `url`, and resolves with what it found. Throws when it does not
 * come to an end with a report.
 */
export async function runSchemathesis(
  dir: string,
  on: { url: string; config: RunConfig },
  size: RunSize,
): Promise<Outcome> {
  const place = mkdtempSync(join(tmpdir(), 'tocsin-schemathesis-'));
  try {
    const configFile = join(place, 'schemathesis.toml');
    const reportFile = join(place, 'report.json');
    writeFileSync(configFile, schemathesisConfig(on.config));
    const [turnsFile, answersFile] = [join(place, 'turns.json'), join(place, 'answers.json')];
    writeFileSync(turnsFile, JSON.stringify(on.config.turns));
    const env = {
      PYTHONPATH: [dir, import.meta.dirname].join(delimiter),
      TOCSIN_CREDENTIALS: turnsFile,
      TOCSIN_ANSWERS: answersFile,
    };
    const output = await run({ env, cwd: place, timeoutMs: size.timeoutMs }, [
      '--config-file',
      configFile,
      'run',
      `${on.url}/openapi.json`,
      '--no-color',
      '--phases',
      size.phases.join(','),
      '--max-examples',
      String(size.examples),
      '--seed',
      String(size.seed),
      '--report',
      'json',
      '--report-json-path',
      reportFile,
      ...(size.seconds === undefined ? [] : ['--max-time', String(size.seconds)]),
    ]);
    return {
      ...outcomeOf(reportFile, output),
      answers: JSON.parse(readFileSync(answersFile, 'utf8')) as Outcome['answers'],
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** `cwd` is where it keeps what it remembers from run to run, which would make a run depend on the last one. */
function run(
  where: { env: NodeJS.ProcessEnv; cwd: string; timeoutMs: number },
  args: readonly string[],
): Promise<string> {
  return new Promise((resolve, reject) => {
    const { cwd, timeoutMs } = where;
    const env = { ...process.env, ...where.env, PYTHONDONTWRITEBYTECODE: '1' };
    const all = ['-c', 'from schemathesis.cli import schemathesis; schemathesis()', ...args];
    execFile(
      'python3',
      all,
      { env, cwd, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: outputBytesMax },
      (error, stdout, stderr) => {
        const hasEnded = error === null || typeof error.code === 'number';
        if (hasEnded) resolve(stdout + stderr);
        else
          reject(
            new Error(
              `Schemathesis did not come to its end: ${error.message.slice(0, 200)}\n${(stdout + stderr).slice(-4_000)}`,
              { cause: error },
            ),
          );
      },
    );
  });
}

function outcomeOf(reportFile: string, output: string): Omit<Outcome, 'answers'> {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  } catch (cause) {
    throw new Error(`Schemathesis wrote no report:\n${output.slice(-4_000)}`, { cause });
  }
  return {
    exitCode: report.exit_code,
    failures: report.failures,
    errors: report.errors,
    output,
  };
}
