import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Schedule } from '../ports/job-queue.ts';
import { scheduleSlots, type ScheduleSlots } from './schedule-slots.ts';

/** A schedule as the engine keeps it. */
export interface KeptSchedule extends Schedule {
  /** When it got its present form, in milliseconds since the epoch. */
  readonly definedAt: number;
}

/** One queue's schedules on an engine. */
export interface ScheduleStore {
  load(): Promise<readonly KeptSchedule[]>;
  /** Adds the slot's job, unless a replica has added it. */
  fire(schedule: Schedule, slot: number): Promise<void>;
}

export interface ScheduleRunnerOptions {
  readonly store: ScheduleStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How soon a change made by another replica is known here. */
const pollMs = 1_000;

/** A slot that could not be fired in time (the loop was held up, the engine was away) is still fired this long after it. */
const latenessMaxMs = 60_000;

/** Harm prevented: a short interval flooding the queue after a pause. The latest ones are fired. */
const slotsPerTickMax = 100;

interface Followed {
  readonly every: Schedule['every'];
  readonly slots: ScheduleSlots;
  /** Slots up to this time are done with. */
  until: number;
}

/**
 * Fires a queue's schedules while this process works on it. Every replica runs one and fires every slot; that one job
 * comes of it is due to the job's id. Nothing but the definitions is stored, so there is no state that could be lost
 * or stuck between two slots.
 */
export class ScheduleRunner {
  readonly #store: ScheduleStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #startedAt: number;
  readonly #followed = new Map<string, Followed>();
  #timer: NodeJS.Timeout | undefined;
  #tick: Promise<void> = Promise.resolve();
  #couldLoad = true;
  #isClosed = false;

  constructor({ store, clock, log }: ScheduleRunnerOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#startedAt = clock();
    void this.refresh();
  }

  /** Looks at the definitions now; called when this process has changed one. Does not throw. */
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
      this.#couldLoad = true;
      const ids = new Set(schedules.map(({ id }) => id));
      for (const id of this.#followed.keys()) if (!ids.has(id)) this.#followed.delete(id);
      for (const schedule of schedules) await this.#serve(schedule);
    } catch (error) {
      this.#log[this.#couldLoad ? 'warn' : 'debug']({ err: error }, 'schedules could not be loaded');
      this.#couldLoad = false; // told once, not once a second
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.refresh(), this.#untilNext());
  }

  /** Fires what is due. One that fails is tried again at the next look, and does not hold up the others. */
  async #serve(schedule: KeptSchedule): Promise<void> {
    try {
      const followed = this.#follow(schedule);
      const now = this.#clock();
      for (const slot of dueSlots(followed, now)) {
        await this.#store.fire(schedule, slot);
        followed.until = slot;
      }
      followed.until = Math.max(followed.until, now);
    } catch (error) {
      this.#log.warn({ err: error, schedule: schedule.id }, 'a schedule could not be fired');
    }
  }

  #follow({ id, every, definedAt }: KeptSchedule): Followed {
    const known = this.#followed.get(id);
    if (known?.every === every) return known;
    const followed = { every, slots: scheduleSlots(every), until: Math.max(definedAt, this.#startedAt) };
    this.#followed.set(id, followed);
    return followed;
  }

  #untilNext(): number {
    const now = this.#clock();
    const waits = [...this.#followed.values()].map(({ slots, until }) => (slots.after(until) ?? Infinity) - now);
    const soonest = Math.min(pollMs, ...waits);
    return soonest > 0 ? soonest : pollMs; // one that is due could not be fired
  }
}

/** Those that have passed and are not too late, at most `slotsPerTickMax`, in order. */
function dueSlots({ slots, until }: Followed, now: number): number[] {
  const due: number[] = [];
  let slot = slots.after(Math.max(until, now - latenessMaxMs));
  while (slot !== null && slot <= now) {
    due.push(slot);
    if (due.length > slotsPerTickMax) due.shift();
    slot = slots.after(slot);
  }
  return due;
}
