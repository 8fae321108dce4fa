import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { lowerPriority } from './lower-priority.ts';

export type RunOptions = {
  env: NodeJS.ProcessEnv;
  /** Ends the program and its children when aborted. */
  signal: AbortSignal;
  /** A program that takes longer is ended and counts as failed. */
  timeoutMs: number;
  /**
   * File that exists once the work is done. A program that still runs `lingerMs` later has a leak and counts as
   * failed.
   */
  doneFile?: string;
  lingerMs?: number;
  /** File for both output streams, in order; default: the caller's streams. */
  outputFile?: string;
  /** Whether to run at the lowest priority. */
  isLowPriority?: boolean;
  /** Time between SIGTERM and SIGKILL. */
  graceMs?: number;
};

/** The exit code, or the reason for ending the program. */
export type RunOutcome = number | 'timeout' | 'leak' | 'aborted';

const lookEveryMs = 50;
const lingerMsDefault = 20_000;
const graceMsDefault = 5_000;

/**
 * Runs Node with the arguments and streams its output, or writes it to a file. When this returns, no process of its
 * process group is left.
 */
export const runToEnd = async (args: string[], options: RunOptions): Promise<RunOutcome> => {
  const output = options.outputFile === undefined ? undefined : openSync(options.outputFile, 'w');
  // A separate process group, to end the servers that tests start together with the tests.
  const child = spawn(process.execPath, args, {
    env: options.env,
    stdio: output === undefined ? ['ignore', 'inherit', 'inherit'] : ['ignore', output, output],
    detached: true,
  });
  if (output !== undefined) closeSync(output); // the program has its own copy
  const exited = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
  let code: number | undefined;
  void exited.then((exitCode) => (code = exitCode));
  if (options.isLowPriority && child.pid !== undefined) await lowerPriority(child.pid);
  const outcome = await untilOver(() => code, options);
  await endGroup(child.pid!, outcome === 'aborted' ? 'SIGINT' : 'SIGTERM', options.graceMs ?? graceMsDefault);
  return outcome;
};

const untilOver = async (exitCode: () => number | undefined, options: RunOptions): Promise<RunOutcome> => {
  const deadline = Date.now() + options.timeoutMs;
  let doneAt: number | undefined;
  for (;;) {
    const code = exitCode();
    if (code !== undefined) return code;
    if (options.signal.aborted) return 'aborted';
    if (Date.now() > deadline) return 'timeout';
    if (options.doneFile && existsSync(options.doneFile)) doneAt ??= Date.now();
    if (doneAt !== undefined && Date.now() > doneAt + (options.lingerMs ?? lingerMsDefault)) return 'leak';
    await sleep(lookEveryMs);
  }
};

const endGroup = async (groupId: number, signal: NodeJS.Signals, graceMs: number) => {
  sendTo(groupId, signal);
  for (const end = Date.now() + graceMs; isThere(groupId) && Date.now() < end;) await sleep(lookEveryMs);
  sendTo(groupId, 'SIGKILL');
};

const sendTo = (groupId: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(-groupId, signal);
  } catch {
    return false; // the whole group has exited
  }
};

const isThere = (groupId: number) => sendTo(groupId, 0);
