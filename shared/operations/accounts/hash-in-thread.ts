import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import bcrypt from 'bcrypt';

/** What the thread is asked: the hash of a password, or whether a password is a hash's. */
export type HashingJob =
  { readonly password: string; readonly cost: number } | { readonly password: string; readonly hash: string };

/** A priority is a thread's on Linux. Elsewhere it is the whole process's, and is left as it is. */
function giveWay(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
}

/** What the thread of a HashingThread runs. An error ends it. */
function hashInThread(job: HashingJob): string | boolean {
  return 'hash' in job ? bcrypt.compareSync(job.password, job.hash) : bcrypt.hashSync(job.password, job.cost);
}

if (parentPort !== null) {
  const port = parentPort;
  giveWay();
  port.on('message', (job: HashingJob) => port.postMessage({ value: hashInThread(job) }));
}
