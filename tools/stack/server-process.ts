import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../engines/free-ports.ts';
import { builtProgram } from './built-program.ts';

const root = join(import.meta.dirname, '../..');
/** The compile cache of `npm start`. */
const compileCache = join(root, 'node_modules/.cache/tocsin');
/** Time limit for a start: a server takes about 1 s on an idle machine and up to 10 s on a loaded one. */
const startMsMaxDefault = 60_000;
/** At these levels a server does not log `ready`. */
const quietLevels: readonly (string | undefined)[] = ['warn', 'error', 'fatal', 'silent'];
const logTailChars = 3_000;
const pollMs = 100;

/** A Tocsin server as a child process. A restart keeps its port. */
export class ServerProcess {
  readonly name: string;
  readonly logFile: string;
  readonly #args: readonly string[];
  readonly #env: Record<string, string>;
  readonly #startMsMax: number;
  #nextRoot: string;
  #child: ChildProcess | undefined;
  #url: string | undefined;

  /**
   * `args` is the program, relative to the project's root, and its arguments; `env` is its complete configuration. The
   * first start runs the version in `firstRoot`, if given.
   */
  constructor(options: {
    name: string;
    args: readonly string[];
    env: Record<string, string>;
    logFile: string;
    startMsMax?: number;
    firstRoot?: string | undefined;
  }) {
    this.name = options.name;
    this.logFile = options.logFile;
    this.#args = options.args;
    this.#env = options.env;
    this.#nextRoot = options.firstRoot ?? root;
    this.#startMsMax = options.startMsMax ?? startMsMaxDefault;
  }

  /** The server's address; a restart keeps it. Throws if the server does not listen. */
  get url(): string {
    if (this.#url === undefined) throw new Error(`${this.name} does not listen`);
    return this.#url;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * Resolves when the server is ready: it logs `ready`, or, at a LOG_LEVEL that hides this line, `/health/ready`
   * returns 200. If the server exits earlier, throws with the end of its log; if it is not ready in time, kills it and
   * throws.
   */
  async start(): Promise<void> {
    const isQuiet = quietLevels.includes(this.#env['LOG_LEVEL']);
    const [freePort, freeMetricsPort] = isQuiet ? await freePorts(2) : [0];
    const port = this.#url === undefined ? String(freePort) : new URL(this.#url).port;
    const metricsPort: Record<string, string> =
      freeMetricsPort === undefined ? {} : { METRICS_PORT: String(freeMetricsPort) };
    const { PATH, NODE_COMPILE_CACHE = compileCache } = process.env;
    const args = this.#nextRoot === root ? this.#args.map(builtProgram) : this.#args;
    const child = spawn(process.execPath, ['--disable-warning=TimeoutNegativeWarning', ...args], {
      cwd: this.#nextRoot,
      env: {
        PATH: PATH ?? '',
        NODE_COMPILE_CACHE,
        HOST: '127.0.0.1',
        PORT: port,
        ...metricsPort,
        ...this.#env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#nextRoot = root;
    child.stderr!.on('data', (chunk: Buffer) => appendFileSync(this.logFile, chunk));
    const ready = new Promise<string | undefined>((resolve) => {
      createInterface({ input: child.stdout! }).on('line', (line) => {
        appendFileSync(this.logFile, `${line}\n`);
        if (!isQuiet && line.includes('"msg":"ready"')) resolve((JSON.parse(line) as { url?: string }).url);
      });
    });
    const polling = new AbortController();
    const env = { PORT: port, ...metricsPort, ...this.#env };
    const healthy = isQuiet ? this.#waitUntilHealthy(env, polling.signal) : new Promise<never>(() => undefined);
    const failed = once(child, 'exit').then(() => {
      throw new Error(`${this.name} exited before it was ready:\n${this.logTail()}`);
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`${this.name} is not ready after ${this.#startMsMax} ms:\n${this.logTail()}`)),
        this.#startMsMax,
      );
    });
    try {
      this.#url = await Promise.race([ready, healthy, failed, late]);
    } catch (error) {
      await this.kill();
      throw error;
    } finally {
      clearTimeout(timer);
      polling.abort();
      failed.catch(() => undefined);
    }
  }

  /**
   * Polls `/health/ready`: of the API if the process has that role, otherwise of METRICS_PORT. Returns the API's URL.
   */
  async #waitUntilHealthy(env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<string | undefined> {
    const hasApi =
      this.#args.includes('services/api/main.ts') ||
      (this.#args.includes('cli/main.ts') && (env['ROLES'] ?? 'api').split(',').includes('api'));
    const url = `http://127.0.0.1:${hasApi ? env['PORT'] : env['METRICS_PORT']}`;
    while (!signal.aborted) {
      const isReady = await fetch(`${url}/health/ready`, { signal }).then(
        ({ ok }) => ok,
        () => false, // it does not listen yet
      );
      if (isReady) return hasApi ? url : undefined;
      await sleep(pollMs);
    }
    return undefined;
  }

  /** Sends SIGKILL, as in a crash. Resolves when the process has exited. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Sends SIGTERM. Returns the exit code. */
  async stop(): Promise<number | null> {
    const child = this.#child;
    await this.#end('SIGTERM');
    return child?.exitCode ?? null;
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(name);
  }

  logTail(): string {
    try {
      return readFileSync(this.logFile, 'utf8').slice(-logTailChars);
    } catch {
      return '(no log)';
    }
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.isRunning) return;
    const gone = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    await gone;
  }
}
