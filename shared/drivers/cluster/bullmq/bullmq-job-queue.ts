import { Job as BullmqJob, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { unavailable } from '../../../domain/errors.ts';
import { systemClock, type Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type {
  FailedJob,
  JobCounts,
  JobData,
  JobQueue,
  NewJob,
  Schedule,
  Worker,
  WorkOptions,
} from '../../../ports/job-queue.ts';
import { checkedJob, checkId, slotJob } from '../../job-rules.ts';
import { ScheduleRunner, type StoredSchedule } from '../../schedule-runner.ts';
import { scheduleSlots } from '../../schedule-slots.ts';
import { BullmqJobWorker } from './bullmq-job-worker.ts';
import { RedisConnection } from '../redis/redis-connection.ts';

export interface BullmqJobQueueOptions {
  readonly url: string;
  /** Prefix of all keys, so that several installations can share a Redis server; without a trailing colon. */
  readonly prefix: string;
  readonly log: Logger;
  readonly clock?: Clock;
}

/**
 * The job queue of a cluster: BullMQ on a Redis server without eviction and with an append-only file. Resolves when the
 * connection is open, or after two seconds: a node can start while Redis is down, and its workers start when Redis
 * recovers. Remembers the ID of a finished job for at least a day, unless 100,000 jobs of its queue finished after it,
 * the job has `isRemembered: false`, or Redis is almost full.
 *
 * Schedules use `ScheduleRunner` instead of BullMQ's job schedulers, which create the next job when the previous one is
 * claimed: they would catch up on a slot missed without workers, and a lost job would end its schedule.
 */
export async function openBullmqJobQueue(options: BullmqJobQueueOptions): Promise<JobQueue> {
  const jobs = new BullmqJobQueue(options);
  await jobs.waitUntilOpen();
  return jobs;
}

const openTimeoutMs = 2_000;
/** Longer than for the bus: a stalled Redis delays pushes by three seconds, and the connections cost less CPU time. */
const heartbeatMs = 1_000;

/**
 * Above this part of `maxmemory`, Redis has no room for more work. At the limit it would also reject the commands that
 * take and finish jobs, so that no memory would become free.
 */
const usedMax = 0.9;
/** A batch of the log adds up to 1,000 jobs of 1.4 kB. */
const roomAgeMsMax = 50;
/**
 * Without room, jobs are forgotten this long after they finish: the same ID is added again within seconds, if at all.
 */
const rememberedMs = 5_000;
/** Jobs per queue and check, because the script blocks Redis. */
const forgottenMax = 1_000;

class BullmqJobQueue implements JobQueue {
  readonly #options: BullmqJobQueueOptions;
  readonly #clock: Clock;
  /** For queue commands; fails fast. */
  readonly #commands: RedisConnection;
  /** For the workers; waits for Redis. Opened with the first worker. */
  #working: RedisConnection | undefined;
  /** The workers' blocking connections. BullMQ creates them but cannot close them while they wait for Redis. */
  readonly #blockingConnections = new Set<Redis>();
  readonly #queues = new Map<string, Queue<JobData>>();
  readonly #workers = new Map<string, Set<BullmqJobWorker>>();
  readonly #runners = new Map<string, ScheduleRunner>();
  #room: { readonly checkedAt: number; readonly hasRoom: Promise<boolean> } | undefined;
  #isFull = false;
  #isClosing = false;

  constructor(options: BullmqJobQueueOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#commands = new RedisConnection({
      url: options.url,
      name: 'tocsin-queue',
      part: 'Queue',
      log: options.log,
      heartbeatMs,
    });
  }

  async waitUntilOpen(): Promise<void> {
    await this.#commands.waitUntilUp(openTimeoutMs);
    if (!this.#commands.isUp) this.#options.log.warn({ err: this.#commands.lastError }, 'Redis unreachable, retrying');
  }

  async add(queue: string, jobs: readonly NewJob[]): Promise<void> {
    const checked = jobs.map(checkedJob);
    if (checked.length === 0) return;
    const bulkJobs = checked.map(({ id, data, delayMs, priority, attempts, backoffMs, isRemembered }) => ({
      name: 'job',
      data,
      opts: {
        jobId: id,
        delay: delayMs,
        priority,
        attempts,
        backoff: { type: 'capped', delay: backoffMs },
        stackTraceLimit: 0,
        ...(isRemembered ? {} : { removeOnComplete: true }),
      },
    }));
    const [first, ...others] = bulkJobs;
    await this.#call(queue, async (engine) => {
      // A single job needs no transaction, which doubles the cost.
      if (others.length === 0) await engine.add(first!.name, first!.data, first!.opts);
      else await engine.addBulk(bulkJobs);
    });
  }

  async hasRoom(): Promise<boolean> {
    const now = performance.now();
    if (this.#room === undefined || now - this.#room.checkedAt >= roomAgeMsMax)
      this.#room = { checkedAt: now, hasRoom: this.#checkRoom() };
    return this.#room.hasRoom;
  }

  async #checkRoom(): Promise<boolean> {
    const memory = await this.#commands.run((redis) => redis.info('memory'));
    const bytes = (field: string) => Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(memory)?.[1] ?? 0);
    const limit = bytes('maxmemory');
    const isFull = limit > 0 && bytes('used_memory') > usedMax * limit;
    if (isFull) await this.#forgetFinished();
    if (isFull !== this.#isFull) {
      if (isFull) this.#options.log.warn('redis: memory is almost full, new messages wait in the log');
      else this.#options.log.info('redis: memory is free again');
    }
    this.#isFull = isFull;
    return !isFull;
  }

  /** Finished jobs would otherwise keep their memory for a day. */
  async #forgetFinished(): Promise<void> {
    for (const queue of new Set([...this.#queues.keys(), ...this.#workers.keys()]))
      await this.#call(queue, (engine) => engine.clean(rememberedMs, forgottenMax));
  }

  work(queue: string, options: WorkOptions): Promise<Worker> {
    if (this.#isClosing) return Promise.reject(unavailable('Queue'));
    const { prefix, log } = this.#options;
    const { redis } = (this.#working ??= this.#openWorking());
    const worker = new BullmqJobWorker({ ...options, queue, prefix, redis, log });
    const workers = this.#workers.get(queue) ?? new Set();
    this.#workers.set(queue, workers.add(worker));
    if (!this.#runners.has(queue)) this.#runners.set(queue, this.#startRunner(queue));
    return Promise.resolve({ close: (graceMs) => this.#closeWorker(queue, worker, graceMs) });
  }

  #openWorking(): RedisConnection {
    const workerConnection = new RedisConnection({
      url: this.#options.url,
      name: 'tocsin-queue-worker',
      part: 'Queue',
      log: this.#options.log,
      heartbeatMs,
      redis: {
        maxRetriesPerRequest: null,
        enableOfflineQueue: true,
        autoResendUnfulfilledCommands: true,
        commandTimeout: undefined,
      },
    });
    const duplicate = workerConnection.redis.duplicate.bind(workerConnection.redis);
    workerConnection.redis.duplicate = (override) => {
      const copy = duplicate(override);
      this.#blockingConnections.add(copy);
      return copy;
    };
    return workerConnection;
  }

  async #closeWorker(queue: string, worker: BullmqJobWorker, graceMs?: number): Promise<void> {
    const workers = this.#workers.get(queue);
    workers?.delete(worker);
    if (workers?.size === 0) {
      const runner = this.#runners.get(queue);
      this.#runners.delete(queue);
      await runner?.close();
    }
    await worker.close(graceMs);
  }

  #startRunner(queue: string): ScheduleRunner {
    const store = {
      load: () => this.#loadSchedules(queue),
      fire: (schedule: Schedule, slot: number) => this.add(queue, [slotJob(schedule, slot)]),
    };
    return new ScheduleRunner({ store, clock: this.#clock, log: this.#options.log });
  }

  async schedule(queue: string, { id, every, data }: Schedule): Promise<void> {
    checkId(id);
    scheduleSlots(every);
    const before = (await this.#loadSchedules(queue)).find((stored) => stored.id === id);
    const definedAt = before?.every === every ? before.definedAt : this.#clock();
    await this.#commands.run((redis) =>
      redis.hset(this.#schedulesKey(queue), id, JSON.stringify({ every, data, definedAt })),
    );
    await this.#runners.get(queue)?.refresh();
  }

  async unschedule(queue: string, id: string): Promise<void> {
    await this.#commands.run((redis) => redis.hdel(this.#schedulesKey(queue), id));
    await this.#runners.get(queue)?.refresh();
  }

  async #loadSchedules(queue: string): Promise<StoredSchedule[]> {
    const stored = await this.#commands.run((redis) => redis.hgetall(this.#schedulesKey(queue)));
    return Object.entries(stored).map(([id, text]) => ({ id, ...(JSON.parse(text) as Omit<StoredSchedule, 'id'>) }));
  }

  #schedulesKey(queue: string): string {
    return `${this.#options.prefix}:${queue}:tocsin-schedules`;
  }

  async counts(queue: string): Promise<JobCounts> {
    const counts = await this.#call(queue, (engine) =>
      engine.getJobCounts('waiting', 'prioritized', 'delayed', 'active', 'failed'),
    );
    const of = (...states: string[]) => states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
    return {
      waiting: of('waiting', 'prioritized'),
      delayed: of('delayed'),
      active: of('active'),
      failed: of('failed'),
    };
  }

  async failed(queue: string, { limit, offset }: { limit: number; offset: number }): Promise<FailedJob[]> {
    const jobs = await this.#call(queue, (engine) => engine.getFailed(offset, offset + limit - 1));
    return jobs.map((job) => ({
      id: job.id!,
      data: job.data,
      attempt: Math.max(1, job.attemptsMade),
      reason: job.failedReason ?? '',
      failedAt: job.finishedOn ?? 0,
    }));
  }

  async retryFailed(queue: string, id: string): Promise<boolean> {
    return await this.#call(queue, async (engine) => {
      const job = await BullmqJob.fromId<JobData>(engine, id);
      if (job === undefined || !(await job.isFailed())) return false;
      await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
      return true;
    });
  }

  async ping(): Promise<void> {
    await this.#commands.run((redis) => redis.ping());
  }

  #call<T>(queue: string, call: (engine: Queue<JobData>) => Promise<T>): Promise<T> {
    return this.#commands.run(() => call(this.#queue(queue)));
  }

  #queue(name: string): Queue<JobData> {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const { prefix, log } = this.#options;
    // Must not wait for Redis or send anything before the first command, because a failure there would be permanent.
    const options = {
      connection: this.#commands.redis,
      prefix,
      skipVersionCheck: true,
      skipWaitingForReady: true,
      skipMetasUpdate: true,
    };
    const queue = new Queue<JobData>(name, options);
    queue.on('error', (error) => log.debug({ err: error, queue: name }, 'job queue error'));
    this.#queues.set(name, queue);
    return queue;
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    const closing = [...this.#workers].flatMap(([queue, workers]) =>
      [...workers].map((worker) => this.#closeWorker(queue, worker)),
    );
    await Promise.all(closing);
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
    for (const redis of this.#blockingConnections) redis.disconnect();
    this.#working?.close();
    this.#commands.close();
  }
}
