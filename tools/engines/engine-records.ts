import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { enginesDir } from './engines-dir.ts';
import { processIdentity } from './process-identity.ts';

/** The record of a running engine, which allows another process to end this process and no other. */
export type EngineRecord = {
  name: string;
  url: string;
  pid: number;
  identity: string;
  /** Removed with the engine; absent if the state is kept. */
  removeDir?: string;
  /** The process that owns the engine; absent for an engine that outlives its starter. */
  owner?: { pid: number; identity: string };
};

const recordsDir = () => {
  const dir = join(enginesDir(), 'run');
  mkdirSync(dir, { recursive: true });
  return dir;
};

const recordFile = (pid: number) => join(recordsDir(), `${pid}.json`);

export const writeRecord = (record: EngineRecord): void => {
  const file = recordFile(record.pid);
  writeFileSync(`${file}.tmp`, JSON.stringify(record, undefined, 2));
  renameSync(`${file}.tmp`, file);
};

export const removeRecord = (pid: number): void => rmSync(recordFile(pid), { force: true });

/** Returns the records of all engines, including engines that exited unexpectedly, in no particular order. */
export const readRecords = (): EngineRecord[] =>
  readdirSync(recordsDir())
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      try {
        return [JSON.parse(readFileSync(join(recordsDir(), name), 'utf8')) as EngineRecord];
      } catch {
        return []; // the engine was stopped concurrently
      }
    });

export const isRunning = (record: EngineRecord): boolean => processIdentity(record.pid) === record.identity;

/** Whether the owner of the engine has exited. */
const isOrphan = ({ owner }: EngineRecord): boolean =>
  owner !== undefined && processIdentity(owner.pid) !== owner.identity;

const stopMsMax = 10_000;

/**
 * Ends a recorded engine, with SIGKILL if it does not exit within 10 s, and removes its state and its record.
 */
export const endRecorded = async (record: EngineRecord): Promise<void> => {
  const signal = (name: NodeJS.Signals) => isRunning(record) && process.kill(record.pid, name);
  signal('SIGCONT');
  signal(record.removeDir ? 'SIGKILL' : 'SIGTERM');
  for (const end = Date.now() + stopMsMax; isRunning(record) && Date.now() < end;) await sleep(20);
  signal('SIGKILL');
  if (record.removeDir) rmSync(record.removeDir, { recursive: true, force: true, maxRetries: 5 });
  removeRecord(record.pid);
};

/** Ends engines whose owner exited without stopping them. */
export const endOrphans = async (): Promise<void> => {
  await Promise.all(readRecords().filter(isOrphan).map(endRecorded));
};
