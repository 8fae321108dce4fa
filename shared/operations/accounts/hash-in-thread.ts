import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import bcrypt from 'bcrypt';

/** A request to the thread: hash a password, or compare a password with a hash. */
export type HashingJob =
  { readonly password: string; readonly cost: number } | { readonly password: string; readonly hash: string };

/** On Linux, priorities are per thread. On other systems they are per process, so the priority is not changed. */
function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
}

/** The main function of a HashingThread's thread. An error ends the thread. */
function hashInThread(job: HashingJob): string | boolean {
  return 'hash' in job ? bcrypt.compareSync(job.password, job.hash) : bcrypt.hashSync(job.password, job.cost);
}

if (parentPort !== null) {
  const port = parentPort;
  lowerPriority();
  port.on('message', (job: HashingJob) => port.postMessage({ value: hashInThread(job) }));
}
