import { createRequire } from 'node:module';
import type * as Luxon from 'luxon';

const require = createRequire(import.meta.url);
/** Loaded at the first use, because few processes compute with time zones. */
const luxon = (): typeof Luxon => require('luxon') as typeof Luxon;

/** Daily hours in local time: `start` and `end` as `HH:MM`. They span midnight if the end is earlier than the start. */
export interface DailyHours {
  readonly start: string;
  readonly end: string;
  /** IANA time zone name, such as `Europe/Berlin`. */
  readonly timezone: string;
}

/** From `start` (inclusive) to `end` (exclusive), in milliseconds since the epoch. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Whether the name is an IANA time zone. */
export function isTimezone(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name) && luxon().IANAZone.isValidZone(name);
}

/**
 * Returns the span of the hours that contains the time, or null. `start` and `end` must differ. Hours that start or end
 * at a time skipped by a clock change do so at the change. If a time occurs twice, hours start at its first and end at
 * its second occurrence.
 */
export function spanAt(hours: DailyHours, time: number): Span | null {
  const today = luxon().DateTime.fromMillis(time, { zone: luxon().IANAZone.create(hours.timezone) });
  // Includes hours that began yesterday, and tomorrow's, which a clock change near midnight can move to today.
  for (const days of [-1, 0, 1]) {
    const day = today.plus({ days });
    const start = instantsOf(day, hours.start)[0]!;
    const end = instantsOf(hours.end > hours.start ? day : day.plus({ days: 1 }), hours.end).at(-1)!;
    if (start <= time && time < end) return { start, end };
  }
  return null;
}

/**
 * Returns the first instant after the time at which the local clock shows the time of day, `HH:MM`. If the clock skips
 * it, the instant of the change counts; if it occurs twice on a day, the first occurrence.
 */
export function nextTimeOfDay(
  { timeOfDay, timezone }: { readonly timeOfDay: string; readonly timezone: string },
  time: number,
): number {
  const today = luxon().DateTime.fromMillis(time, { zone: luxon().IANAZone.create(timezone) });
  for (let days = 0; ; days++) {
    const instant = instantsOf(today.plus({ days }), timeOfDay)[0]!;
    if (instant > time) return instant;
  }
}

/**
 * Returns the instants at which the local clock shows the time on that day: one, or two if the clock is set back. For a
 * skipped time, returns the instant of the clock change.
 */
function instantsOf(day: Luxon.DateTime, clock: string): number[] {
  const [hour, minute] = clock.split(':').map(Number);
  const at = luxon().DateTime.fromObject(
    { year: day.year, month: day.month, day: day.day, hour, minute },
    { zone: day.zone },
  );
  if (at.hour === hour && at.minute === minute)
    return at
      .getPossibleOffsets()
      .map((one) => one.toMillis())
      .sort((a, b) => a - b);
  return [lastOffsetChange(at.toMillis(), day.zone)];
}

/** Returns the instant of the zone's last offset change within a day before the time. */
function lastOffsetChange(time: number, zone: Luxon.Zone): number {
  let [before, after] = [time - 86_400_000, time];
  const offset = zone.offset(after);
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (zone.offset(middle) === offset) after = middle;
    else before = middle;
  }
  return after;
}

/** Limits the memory for unused hours. */
const cachedMax = 10_000;

/** Caches spans: many subscribers share the same hours, so each span is computed once per minute. */
export class QuietSpans {
  readonly #cache = new Map<string, { readonly minute: number; readonly span: Span | null }>();

  at(hours: DailyHours, time: number): Span | null {
    const key = `${hours.start} ${hours.end} ${hours.timezone}`;
    const minute = Math.floor(time / 60_000);
    const cached = this.#cache.get(key);
    if (cached?.minute === minute) return cached.span;
    if (this.#cache.size >= cachedMax) this.#cache.clear();
    const span = spanAt(hours, time);
    this.#cache.set(key, { minute, span });
    return span;
  }
}
