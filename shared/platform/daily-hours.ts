import { DateTime, IANAZone, type Zone } from 'luxon';

/** Hours of every day by the clock on a wall: `start` and `end` as `HH:MM`; past midnight when the end is the earlier one. */
export interface DailyHours {
  readonly start: string;
  readonly end: string;
  /** An IANA name, like `Europe/Berlin`. */
  readonly timezone: string;
}

/** From `start` up to, and without, `end`, in milliseconds since the epoch. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Whether the name is one of a time zone in IANA's database. */
export function isTimezone(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name) && IANAZone.isValidZone(name);
}

/**
 * The span of the hours that the time lies in, or null. Where the clock is set, they are what it shows: hours that begin
 * or end at a time that is left out do so when the clock passes it, and of a time that comes twice the first begins them
 * and the second ends them. `start` and `end` have to differ.
 */
export function spanAt(hours: DailyHours, time: number): Span | null {
  const today = DateTime.fromMillis(time, { zone: IANAZone.create(hours.timezone) });
  // Those that began yesterday, too; a clock that is set back near midnight can make one of tomorrow begin today.
  for (const days of [-1, 0, 1]) {
    const day = today.plus({ days });
    const start = instantsOf(day, hours.start)[0]!;
    const end = instantsOf(hours.end > hours.start ? day : day.plus({ days: 1 }), hours.end).at(-1)!;
    if (start <= time && time < end) return { start, end };
  }
  return null;
}

/** When the clock shows the time on the day: once, or twice where it is set back. Left out: when it jumps over it. */
function instantsOf(day: DateTime, clock: string): number[] {
  const [hour, minute] = clock.split(':').map(Number);
  const at = DateTime.fromObject({ year: day.year, month: day.month, day: day.day, hour, minute }, { zone: day.zone });
  if (at.hour === hour && at.minute === minute)
    return at
      .getPossibleOffsets()
      .map((one) => one.toMillis())
      .sort((a, b) => a - b);
  return [jumpBefore(at.toMillis(), day.zone)];
}

/** The moment, within a day before the time, in which the zone's offset became what it is at the time. */
function jumpBefore(time: number, zone: Zone): number {
  let [before, after] = [time - 86_400_000, time];
  const offset = zone.offset(after);
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (zone.offset(middle) === offset) after = middle;
    else before = middle;
  }
  return after;
}

/** Harm prevented: memory, of hours that nobody has any more. */
const keptMax = 10_000;

/** The spans of many people's hours, of which many are alike: each is reckoned once a minute. */
export class QuietSpans {
  readonly #kept = new Map<string, { readonly minute: number; readonly span: Span | null }>();

  at(hours: DailyHours, time: number): Span | null {
    const key = `${hours.start} ${hours.end} ${hours.timezone}`;
    const minute = Math.floor(time / 60_000);
    const kept = this.#kept.get(key);
    if (kept?.minute === minute) return kept.span;
    if (this.#kept.size >= keptMax) this.#kept.clear();
    const span = spanAt(hours, time);
    this.#kept.set(key, { minute, span });
    return span;
  }
}
