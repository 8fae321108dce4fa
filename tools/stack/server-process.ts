import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '../..');
/** A loaded machine starts a server in ten times the second that an idle one needs. */
const startMsMaxDefault = 60_000;
/** A server at one of these says nothing when it is ready. */
const silentLevels: readonly (string | undefined)[] = ['warn', 'error', 'fatal', 'silent'];
const logTailChars = 3_000;

/** One of our own servers as a process: started, killed, restarted on the same port. */
export class ServerProcess {
  readonly name: string;
  readonly logFile: string;
  readonly #args: readonly string[];
  readonly #env: Record<string, string>;
  readonly #startMsMax: number;
  #child: ChildProcess | undefined;
  #url: string | undefined;

  /** `args` is the program and its arguments, from the project's root; `env` is all of its configuration. */
  constructor(options: {
    name: string;
    args: readonly string[];
    env: Record<string, string>;
    logFile: string;
    startMsMax?: number;
  }) {
    this.name = options.name;
    this.logFile = options.logFile;
    this.#args = options.args;
    this.#env = options.env;
    this.#startMsMax = options.startMsMax ?? startMsMaxDefault;
  }

  /** Where it listens; the same over restarts. Throws for a server that does not. */
  get url(): string {
    if (this.#url === undefined) throw new Error(`${this.name} listens nowhere`);
    return this.#url;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when it says that it is ready. Throws with the end of its log when it ends before, and ends it when it is not ready in time. */
  async start(): Promise<void> {
    const { LOG_LEVEL } = this.#env;
    if (silentLevels.includes(LOG_LEVEL))
      throw new Error(`${this.name} cannot say that it is ready: its LOG_LEVEL is ${LOG_LEVEL}, and info says so`);
    const port = this.#url === undefined ? '0' : new URL(this.#url).port;
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const child = spawn(process.execPath, ['--disable-warning=TimeoutNegativeWarning', ...this.#args], {
      cwd: root,
      env: {
        PATH: PATH ?? '',
        ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
        HOST: '127.0.0.1',
        PORT: port,
        ...this.#env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stderr!.on('data', (chunk: Buffer) => appendFileSync(this.logFile, chunk));
    const ready = new Promise<string | undefined>((resolve) => {
      createInterface({ input: child.stdout! }).on('line', (line) => {
        appendFileSync(this.logFile, `${line}\n`);
        if (line.includes('"msg":"ready"')) resolve((JSON.parse(line) as { url?: string }).url);
      });
    });
    const failed = once(child, 'exit').then(() => {
      throw new Error(`${this.name} ended before it was ready:\n${this.logTail()}`);
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`${this.name} is not ready after ${this.#startMsMax} ms:\n${this.logTail()}`)),
        this.#startMsMax,
      );
    });
    try {
      this.#url = await Promise.race([ready, failed, late]);
    } catch (error) {
      await this.kill();
      throw error;
    } finally {
      clearTimeout(timer);
      failed.catch(() => undefined);
    }
  }

  /** SIGKILL, as a crash would. Resolves when the process is gone. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** SIGTERM; resolves with the exit code. */
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
