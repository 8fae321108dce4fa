import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { schemathesisConfig, type RunConfig } from './schemathesis-config.ts';

/** The extent of a run. */
export interface RunSize {
  /** Generated requests per operation in the fuzzing phase. */
  readonly examples: number;
  /** `examples`, `coverage`, `fuzzing`, `stateful`. */
  readonly phases: readonly string[];
  /** The same seed generates the same requests. */
  readonly seed: number;
  /** Repeats random requests and request sequences until this time is over; once if absent. */
  readonly seconds?: number;
  /** Time limit of a run. */
  readonly timeoutMs: number;
}

/** Data from Schemathesis's report. */
export interface Outcome {
  readonly exitCode: number;
  /** Operations by kind of failure. */
  readonly failures: readonly { readonly title: string; readonly operations: readonly string[] }[];
  readonly errors: readonly unknown[];
  /** Number of responses by operation (`GET /sse`), credential and status. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, number>>>>>>;
  /** Its whole output: each failure with the request that reproduces it. */
  readonly output: string;
}

interface Report {
  readonly exit_code: number;
  readonly failures: readonly { readonly title: string; readonly operations: readonly string[] }[];
  readonly errors: readonly unknown[];
}

/** Limits the memory for the report. */
const outputBytesMax = 64 * 1024 * 1024;

/**
 * Runs Schemathesis from `dir` against the server at `url`. Resolves with its findings. Throws if it does not finish
 * with a report.
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

/** Schemathesis stores state in `cwd`; a new directory keeps runs independent of each other. */
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
              `Schemathesis did not finish: ${error.message.slice(0, 200)}\n${(stdout + stderr).slice(-4_000)}`,
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
