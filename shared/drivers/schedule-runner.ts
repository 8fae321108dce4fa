import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Schedule } from '../ports/job-queue.ts';
import { scheduleSlots, type ScheduleSlots } from './schedule-slots.ts';

/** A stored schedule. */
export interface StoredSchedule extends Schedule {
  /** The time of its last change, in milliseconds since the epoch. */
  readonly definedAt: number;
}

/** The schedules of one queue on an engine. */
export interface ScheduleStore {
  load(): Promise<readonly StoredSchedule[]>;
  /** Adds the slot's job, unless another replica has added it. */
  fire(schedule: Schedule, slot: number): Promise<void>;
}

export interface ScheduleRunnerOptions {
  readonly store: ScheduleStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The interval at which changes by other replicas are noticed. */
const pollMs = 5_000;
/** The pause after a failure. */
const retryMs = 1_000;

/** How late a slot can fire after a delay (a blocked event loop, an outage of the engine). */
const latenessMaxMs = 60_000;

/** Limits the slots of a short interval that fire after a pause, to the latest ones. */
const slotsPerTickMax = 100;

interface TrackedSchedule {
  readonly every: Schedule['every'];
  readonly slots: ScheduleSlots;
  /** Slots up to this time are processed. */
  until: number;
}

/**
 * Fires a queue's schedules while this process has a worker on it. Every replica fires every slot, and the job's ID
 * ensures a single job. Only the definitions are stored, so no state can be lost between two slots.
 */
export class ScheduleRunner {
  readonly #store: ScheduleStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #startedAt: number;
  readonly #tracked = new Map<string, TrackedSchedule>();
  #timer: NodeJS.Timeout | undefined;
  #tick: Promise<void> = Promise.resolve();
  #isLoadable = true;
  #isClosed = false;

  constructor({ store, clock, log }: ScheduleRunnerOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#startedAt = clock();
    void this.refresh();
  }

  /** Reloads the definitions; called after this process changed one. Does not throw. */
  refresh(): Promise<void> {
    this.#tick = this.#tick.then(() => this.#run());
    return this.#tick;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#tick;
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    try {
      const schedules = await this.#store.load();
      this.#isLoadable = true;
      const ids = new Set(schedules.map(({ id }) => id));
      for (const id of this.#tracked.keys()) if (!ids.has(id)) this.#tracked.delete(id);
      for (const schedule of schedules) await this.#fireDue(schedule);
    } catch (error) {
      this.#log[this.#isLoadable ? 'warn' : 'debug']({ err: error }, 'schedules could not be loaded');
      this.#isLoadable = false; // log once, not once per second
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.refresh(), this.#msUntilNextSlot());
  }

  /** Fires due slots. A failed slot is retried after a second and does not block others. */
  async #fireDue(schedule: StoredSchedule): Promise<void> {
    try {
      const tracked = this.#track(schedule);
      const now = this.#clock();
      for (const slot of dueSlots(tracked, now)) {
        await this.#store.fire(schedule, slot);
        tracked.until = slot;
      }
      tracked.until = Math.max(tracked.until, now);
    } catch (error) {
      this.#log.warn({ err: error, schedule: schedule.id }, 'a schedule could not be fired');
    }
  }

  #track({ id, every, definedAt }: StoredSchedule): TrackedSchedule {
    const known = this.#tracked.get(id);
    if (known?.every === every) return known;
    const tracked = { every, slots: scheduleSlots(every), until: Math.max(definedAt, this.#startedAt) };
    this.#tracked.set(id, tracked);
    return tracked;
  }

  #msUntilNextSlot(): number {
    const now = this.#clock();
    const waits = [...this.#tracked.values()].map(({ slots, until }) => (slots.after(until) ?? Infinity) - now);
    const soonest = Math.min(this.#isLoadable ? pollMs : retryMs, ...waits);
    return soonest > 0 ? soonest : retryMs; // a due slot could not be fired
  }
}

/** Returns due slots that are not too old, in order, at most the latest `slotsPerTickMax`. */
function dueSlots({ slots, until }: TrackedSchedule, now: number): number[] {
  const due: number[] = [];
  let slot = slots.after(Math.max(until, now - latenessMaxMs));
  while (slot !== null && slot <= now) {
    due.push(slot);
    if (due.length > slotsPerTickMax) due.shift();
    slot = slots.after(slot);
  }
  return due;
}
