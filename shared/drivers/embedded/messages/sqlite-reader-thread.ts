import { constants, setPriority } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { mappedBytesMax } from '../sqlite/sqlite-file.ts';
import { sqliteMessageSearch, type SqliteMessageSearch, type Steps } from './sqlite-message-search.ts';
import { sqliteRetentionReads, type SqliteRetentionReads } from './sqlite-retention-reads.ts';
import { TopicLists, withTopics, type ReadJob, type TopicsSent } from './sqlite-read-job.ts';

/** So many times its limit a job may take where others have their turns. Harm prevented: many long ones working on for minutes after their askers have gone. */
const besideOthersTimes = 3;

export interface ReadRequest {
  readonly id: number;
  /** Without its topics. */
  readonly job: ReadJob;
  readonly topics: TopicsSent;
}

/** How a job ended. An error's `errcode` is SQLite's, where it has one. */
export type ReadOutcome =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly tookTooLong: true }
  | { readonly id: number; readonly error: { readonly message: string; readonly errcode: number | undefined } };

interface Running {
  readonly id: number;
  readonly steps: Steps<unknown>;
  /** Its own time at work, not that of the jobs beside it. */
  workedMs: number;
  readonly askedAt: number;
}

/** Does the jobs step by step, each in its turn, so that a short one is not kept waiting by long ones. */
function serve(port: NonNullable<typeof parentPort>, { path, workMsMax }: ReaderStart): void {
  const reads = open(path);
  const lists = new TopicLists();
  const running: Running[] = [];
  let isWorking = false;

  const work = async (): Promise<void> => {
    isWorking = true;
    for (let job = running.shift(); job !== undefined; job = running.shift()) {
      const outcome = step(job, workMsMax);
      if (outcome === null) running.push(job);
      else port.postMessage(outcome);
      await nextTurn(); // lets in what was asked meanwhile
    }
    isWorking = false;
  };

  port.on('message', ({ id, job, topics }: ReadRequest) => {
    running.push({
      id,
      steps: begin(reads, withTopics(job, lists.receive(topics))),
      workedMs: 0,
      askedAt: performance.now(),
    });
    if (!isWorking) void work();
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

function begin({ search, retention }: Reads, job: ReadJob): Steps<unknown> {
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
    case 'count-drift':
      return retention.countDrift(job.topicId);
  }
}

/** Does the job's next step; null while there are more. */
function step(job: Running, workMsMax: number): ReadOutcome | null {
  const beganAt = performance.now();
  try {
    const { done, value } = job.steps.next();
    if (done === true) return { id: job.id, value };
  } catch (error) {
    const { message, errcode } = error as { message: string; errcode?: number };
    return { id: job.id, error: { message, errcode } };
  }
  job.workedMs += performance.now() - beganAt;
  const isTooLong = job.workedMs > workMsMax || performance.now() - job.askedAt > besideOthersTimes * workMsMax;
  return isTooLong ? { id: job.id, tookTooLong: true } : null;
}

/** How a thread is started. */
export interface ReaderStart {
  readonly path: string;
  /** Whether its jobs give way to everything else that the process does. */
  readonly givesWay: boolean;
  /** How long a job may work. */
  readonly workMsMax: number;
}

/**
 * To Linux a priority is a thread's, and 0 the one that calls: publishes on the loop go before searches where there are too few
 * cores for both. Elsewhere it is the whole process's, and is left as it is.
 */
function giveWay(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
}

if (parentPort !== null) {
  const start = workerData as ReaderStart;
  if (start.givesWay) giveWay();
  serve(parentPort, start);
}
