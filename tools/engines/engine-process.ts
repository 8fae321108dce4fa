import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine, EngineOptions } from './engine.ts';
import { removeRecord, writeRecord } from './engine-records.ts';
import { fastDir } from './fast-dir.ts';
import { PortTakenError } from './free-ports.ts';
import { processIdentity } from './process-identity.ts';

export type EngineProgram = {
  name: string;
  url: string;
  file: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  /** What the log says once the engine listens. */
  readyLine: string;
  /** Whether it answers, asked from then on again and again; what it throws counts as no. */
  answers: () => Promise<boolean>;
};

export type EngineState = { dir: string; removeDir: string | undefined; outlives: boolean };

/** Where an engine keeps its data and logs: the caller's directory, or a temporary one that goes with the engine. */
export const engineState = (
  name: string,
  { dataDir, keep, outlives, isForLong = outlives }: EngineOptions,
): EngineState => {
  const dir = dataDir ?? mkdtempSync(join(isForLong || keep ? tmpdir() : fastDir(), `tocsin-${name}-`));
  mkdirSync(dir, { recursive: true });
  return { dir, removeDir: dataDir === undefined && !keep ? dir : undefined, outlives: outlives ?? false };
};

/** A loaded machine takes ten times as long as an idle one, which needs 5 s for the slowest engine. */
const startMsMax = 120_000;
const stopMsMax = 10_000;
const lookEveryMs = 25;
const logTailChars = 2_000;

/** One engine process: its start, its signals, its end, and the record by which another process can end it. */
export class EngineProcess implements Engine {
  readonly #program: EngineProgram;
  readonly #state: EngineState;
  #child: ChildProcess | undefined;
  #starts = 0;

  constructor(program: EngineProgram, state: EngineState) {
    this.#program = program;
    this.#state = state;
  }

  get url() {
    return this.#program.url;
  }

  get pid() {
    return this.#child?.pid ?? 0;
  }

  get logFile() {
    return join(this.#state.dir, `${this.#program.name}-${this.#starts}.log`);
  }

  /**
   * Runs the program and returns when it answers. Throws with the end of its log when it dies or does not answer in
   * time.
   */
  async start(): Promise<void> {
    this.#starts += 1;
    const log = openSync(this.logFile, 'w');
    const { file, args, env } = this.#program;
    const child = spawn(file, args, { detached: true, stdio: ['ignore', log, log], env: { ...process.env, ...env } });
    closeSync(log);
    this.#child = child;
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    child.unref();
    this.#record();
    try {
      await this.#untilReady(child);
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  async stop(): Promise<void> {
    // State that is thrown away needs no clean end.
    if (this.#state.removeDir) await this.kill();
    else await this.#terminate();
    if (this.#state.removeDir) rmSync(this.#state.removeDir, { recursive: true, force: true, maxRetries: 5 });
  }

  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#gone(stopMsMax);
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async restart(): Promise<void> {
    await this.#terminate();
    await this.start();
  }

  async #terminate(): Promise<void> {
    this.resume();
    this.#child?.kill('SIGTERM');
    if (!(await this.#gone(stopMsMax))) await this.kill();
  }

  #hasEnded(child: ChildProcess) {
    return child.exitCode !== null || child.signalCode !== null;
  }

  /** Whether the process was gone within the time. */
  async #gone(patienceMs: number): Promise<boolean> {
    const child = this.#child;
    if (!child) return true;
    for (const end = Date.now() + patienceMs; !this.#hasEnded(child); await sleep(lookEveryMs)) {
      if (Date.now() > end) return false;
    }
    removeRecord(this.pid);
    return true;
  }

  #record() {
    const identity = processIdentity(this.pid);
    if (identity === undefined) return; // it died at once, which the wait for it will report
    const { name, url } = this.#program;
    const { removeDir, outlives } = this.#state;
    const owner = { pid: process.pid, identity: processIdentity(process.pid)! };
    writeRecord({ name, url, pid: this.pid, identity, ...(removeDir && { removeDir }), ...(!outlives && { owner }) });
  }

  async #untilReady(child: ChildProcess): Promise<void> {
    const { name, readyLine, answers } = this.#program;
    for (const end = Date.now() + startMsMax; Date.now() < end; await sleep(lookEveryMs)) {
      const log = readFileSync(this.logFile, 'utf8');
      if (this.#hasEnded(child)) {
        const tail = log.slice(-logTailChars);
        if (/address already in use/i.test(log)) throw new PortTakenError(`${name}: its port is taken\n${tail}`);
        throw new Error(`${name} ended while it started:\n${tail}`);
      }
      if (log.includes(readyLine) && (await answers().catch(() => false))) return;
    }
    throw new Error(
      `${name} did not answer within ${startMsMax / 1000} s:\n${readFileSync(this.logFile, 'utf8').slice(-logTailChars)}`,
    );
  }
}

/** Starts the program and returns it running; a failed start leaves neither a process nor a temporary directory. */
export const startEngineProcess = async (program: EngineProgram, state: EngineState): Promise<EngineProcess> => {
  const engine = new EngineProcess(program, state);
  try {
    await engine.start();
    return engine;
  } catch (error) {
    if (state.removeDir) rmSync(state.removeDir, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
};
