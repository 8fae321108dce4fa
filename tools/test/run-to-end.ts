import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { lowerPriority } from './lower-priority.ts';

export type RunOptions = {
  env: NodeJS.ProcessEnv;
  /** Ends the program and all that it started when aborted. */
  signal: AbortSignal;
  /** A program that goes on longer is ended and has failed. */
  timeoutMs: number;
  /**
   * Written when the work is done: a program that is still there `lingerMs` later is held open by a leak and has
   * failed.
   */
  doneFile?: string;
  lingerMs?: number;
  /** Takes what the program prints, both streams in their order; without it the caller's own streams do. */
  outputFile?: string;
  /** Whether everything else on the machine goes first. */
  isLowPriority?: boolean;
  /** What is asked to end and is still there so much later is killed. */
  graceMs?: number;
};

/** How it went: the exit code, or what had to end it. */
export type RunOutcome = number | 'timeout' | 'leak' | 'aborted';

const lookEveryMs = 50;
const lingerMsDefault = 20_000;
const graceMsDefault = 5_000;

/**
 * Runs Node with the arguments and streams its output, or writes it to a file. Nothing that it started in its process group is left when this
 * returns.
 */
export const runToEnd = async (args: string[], options: RunOptions): Promise<RunOutcome> => {
  const output = options.outputFile === undefined ? undefined : openSync(options.outputFile, 'w');
  // A group of its own, so that the servers which tests start can be ended together with the tests.
  const child = spawn(process.execPath, args, {
    env: options.env,
    stdio: output === undefined ? ['ignore', 'inherit', 'inherit'] : ['ignore', output, output],
    detached: true,
  });
  if (output !== undefined) closeSync(output); // the program has its own
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
    return false; // all of the group has ended
  }
};

const isThere = (groupId: number) => sendTo(groupId, 0);
