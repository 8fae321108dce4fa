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
  /** The log line that appears once the engine listens. */
  readyLine: string;
  /** Whether the engine responds; polled from then on. An error counts as false. */
  answers: () => Promise<boolean>;
};

export type EngineState = { dir: string; removeDir: string | undefined; outlives: boolean };

/** The directory of an engine's data and logs: the caller's, or a temporary one that is removed with the engine. */
export const engineState = (
  name: string,
  { dataDir, keep, outlives, isForLong = outlives }: EngineOptions,
): EngineState => {
  const dir = dataDir ?? mkdtempSync(join(isForLong || keep ? tmpdir() : fastDir(), `tocsin-${name}-`));
  mkdirSync(dir, { recursive: true });
  return { dir, removeDir: dataDir === undefined && !keep ? dir : undefined, outlives: outlives ?? false };
};

/** Time limit for a start. The slowest engine takes 5 s on an idle machine and ten times as long on a loaded one. */
const startMsMax = 120_000;
const stopMsMax = 10_000;
const lookEveryMs = 25;
const logTailChars = 2_000;

/** One engine process: start, signals, stop, and the record that allows another process to end it. */
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
   * Runs the program and resolves when it responds. Throws with the end of its log if it exits or does not respond in
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
    // Discarded state needs no clean stop.
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

  /** Returns whether the process exited within the time. */
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
    if (identity === undefined) return; // the process exited immediately, which the wait for readiness reports
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
        if (/address already in use/i.test(log)) throw new PortTakenError(`${name}: port already in use\n${tail}`);
        throw new Error(`${name} exited while it started:\n${tail}`);
      }
      if (log.includes(readyLine) && (await answers().catch(() => false))) return;
    }
    throw new Error(
      `${name} did not respond within ${startMsMax / 1000} s:\n${readFileSync(this.logFile, 'utf8').slice(-logTailChars)}`,
    );
  }
}

/**
 * Starts the program and returns the running engine. A failed start leaves neither a process nor a temporary directory.
 */
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
