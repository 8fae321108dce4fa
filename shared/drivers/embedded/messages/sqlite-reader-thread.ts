import { constants, setPriority } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { mappedBytesMax } from '../sqlite/sqlite-file.ts';
import { sqliteMessageSearch, type SqliteMessageSearch, type Steps } from './sqlite-message-search.ts';
import { sqliteRetentionReads, type SqliteRetentionReads } from './sqlite-retention-reads.ts';
import { TopicLists, withTopics, type ReadJob, type TopicsSent } from './sqlite-read-job.ts';

/**
 * How many times its limit a job may take with concurrent jobs, so that abandoned jobs do not run for minutes.
 */
const concurrentTimeFactor = 3;

export interface ReadRequest {
  readonly id: number;
  /** The job without its topics. */
  readonly job: ReadJob;
  readonly topics: TopicsSent;
}

/** The outcome of a job. `errcode` is SQLite's error code, if any. */
export type ReadOutcome =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly tookTooLong: true }
  | { readonly id: number; readonly error: { readonly message: string; readonly errcode: number | undefined } };

interface Running {
  readonly id: number;
  readonly steps: Steps<unknown>;
  /** The job's own running time, without that of concurrent jobs. */
  workedMs: number;
  readonly requestedAt: number;
}

/** Runs the jobs round-robin, one step at a time, so that short jobs do not wait for long ones. */
function serve(port: NonNullable<typeof parentPort>, { path, workMsMax }: ReaderStart): void {
  const reads = open(path);
  const lists = new TopicLists();
  const running: Running[] = [];
  let isRunning = false;

  const work = async (): Promise<void> => {
    isRunning = true;
    for (let job = running.shift(); job !== undefined; job = running.shift()) {
      const outcome = step(job, workMsMax);
      if (outcome === null) running.push(job);
      else port.postMessage(outcome);
      await nextTurn(); // lets new jobs arrive
    }
    isRunning = false;
  };

  port.on('message', ({ id, job, topics }: ReadRequest) => {
    running.push({
      id,
      steps: startJob(reads, withTopics(job, lists.receive(topics))),
      workedMs: 0,
      requestedAt: performance.now(),
    });
    if (!isRunning) void work();
  });
}

interface Reads {
  readonly search: SqliteMessageSearch;
  readonly retention: SqliteRetentionReads;
}

function open(path: string): Reads {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  db.exec(`PRAGMA mmap_size = ${mappedBytesMax}; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY`);
  return { search: sqliteMessageSearch(db), retention: sqliteRetentionReads(db) };
}

function startJob({ search, retention }: Reads, job: ReadJob): Steps<unknown> {
  switch (job.kind) {
    case 'search':
      return search.search(job.filter, job.page);
    case 'recent':
      return search.recent(job.topicIds, job.page);
    case 'activity':
      return search.activity(job.filter, job.bucketMs);
    case 'expired':
      return retention.expired(job);
    case 'oldest-kept':
      return retention.oldestKept(job.topicIds, job.time);
    case 'held':
      return retention.held(job);
    case 'expired-of':
      return retention.expiredOf(job);
    case 'count-drift':
      return retention.countDrift(job.topicId);
  }
}

/** Runs the job's next step; returns its outcome, or null while steps remain. */
function step(job: Running, workMsMax: number): ReadOutcome | null {
  const startedAt = performance.now();
  try {
    const { done, value } = job.steps.next();
    if (done === true) return { id: job.id, value };
  } catch (error) {
    const { message, errcode } = error as { message: string; errcode?: number };
    return { id: job.id, error: { message, errcode } };
  }
  job.workedMs += performance.now() - startedAt;
  const isTooLong = job.workedMs > workMsMax || performance.now() - job.requestedAt > concurrentTimeFactor * workMsMax;
  return isTooLong ? { id: job.id, tookTooLong: true } : null;
}

/** The start options of a thread. */
export interface ReaderStart {
  readonly path: string;
  /** Whether its jobs have a lower priority than the rest of the process. */
  readonly isLowPriority: boolean;
  /** Time limit of a job. */
  readonly workMsMax: number;
}

/**
 * On Linux priorities are per thread, and 0 is the calling thread: publishes on the event loop precede searches on few
 * cores. On other systems the priority is per process and is not changed.
 */
function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
}

if (parentPort !== null) {
  const startJob = workerData as ReaderStart;
  if (startJob.isLowPriority) lowerPriority();
  serve(parentPort, startJob);
}
