import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const memoryDir = '/dev/shm';
/** Required free memory: about six times the data of a full test run. */
const memoryBytesMin = 6 * 2 ** 30;

/**
 * An in-memory directory, if enough memory is free. MongoDB syncs its journal on every write; in memory it takes a
 * third less CPU time and half the time per transaction. Files survive a killed process, but not a reboot.
 */
export const fastDir = (): string => {
  try {
    const { bavail, bsize } = statfsSync(memoryDir);
    return Math.min(bavail * bsize, process.availableMemory()) >= memoryBytesMin ? memoryDir : tmpdir();
  } catch {
    return tmpdir();
  }
};
