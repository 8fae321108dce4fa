import { createRequire } from 'node:module';
import type * as Chrono from 'chrono-node/en';
import type * as Luxon from 'luxon';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { scheduleAheadMs } from '@tocsin/shared/domain/messages/scheduled-message.ts';
import { isTimezone } from '@tocsin/shared/platform/daily-hours.ts';

const require = createRequire(import.meta.url);
/** Loaded at the first use, because most publishes have no delay. */
const chrono = (): typeof Chrono => require('chrono-node/en') as typeof Chrono;
const luxon = (): typeof Luxon => require('luxon') as typeof Luxon;

/** Longer texts are no times, and a parser of language takes long for them. */
const charactersMax = 100;

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const duration = /(\d{1,9})\s*(s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])\s*/giy;

const invalid = (field: string, rule: string) => new AppError('unprocessable', `${field}: ${rule}`);

/**
 * Returns the time that a `delay` names, in milliseconds since the epoch; null without one. It is a duration (`30m`, `2
 * days`, `1h30m`), Unix seconds, an ISO 8601 time, or English (`tomorrow, 10am`). Times without an offset are in
 * `timezone`, an IANA name, by default UTC. Throws 422 for anything else and for a time that is not 10 seconds to 30
 * days ahead.
 */
export function parseDelay(delay: string | undefined, timezone: string | undefined, now: number): number | null {
  const text = delay?.trim() ?? '';
  if (text === '') return null;
  const zone = timezone?.trim() || 'UTC';
  if (!isTimezone(zone)) throw invalid('timezone', 'must be an IANA time zone, such as Europe/Berlin');
  const time =
    text.length > charactersMax
      ? null
      : (parseDuration(text, now) ?? parseUnixSeconds(text) ?? parseIso(text, zone) ?? parseEnglish(text, zone, now));
  if (time === null) {
    throw invalid(
      'delay',
      'must be a duration such as 30m, Unix seconds, an ISO 8601 time, or a time in English such as tomorrow, 10am',
    );
  }
  if (!(time >= now + scheduleAheadMs.min && time <= now + scheduleAheadMs.max))
    throw invalid('delay', 'must be 10 seconds to 30 days ahead');
  return Math.round(time);
}

function parseDuration(text: string, now: number): number | null {
  const parts = [...text.matchAll(duration)];
  if (parts.length === 0 || parts.reduce((length, [part]) => length + part.length, 0) < text.length) return null;
  return parts.reduce((time, [, count, unit]) => time + Number(count) * unitMs[unit![0]!.toLowerCase()]!, now);
}

function parseUnixSeconds(text: string): number | null {
  return /^\d{1,12}(\.\d{1,9})?$/.test(text) ? Number(text) * 1_000 : null;
}

function parseIso(text: string, zone: string): number | null {
  if (!/^\d{4}-?\d{2}-?\d{2}([Tt ]|$)/.test(text)) return null;
  const time = luxon().DateTime.fromISO(text.replace(/^([\d-]+) /, '$1T'), { zone });
  return time.isValid ? time.toMillis() : null;
}

/** The whole text must be one time: a part of it could mean something else, such as `10am every day`. */
function parseEnglish(text: string, zone: string, now: number): number | null {
  const { DateTime } = luxon();
  const reference = { instant: new Date(now), timezone: DateTime.fromMillis(now, { zone }).offset };
  const [found, ...others] = chrono().parse(text, reference, { forwardDate: true });
  if (found === undefined || others.length > 0 || found.text.length < text.length || found.end) return null;
  const { start } = found;
  // Relative hours and explicit offsets are exact. Other times are local, where a clock change can lie between.
  if (start.isCertain('timezoneOffset')) return start.date().getTime();
  const [year, month, day, hour, minute, second] = (['year', 'month', 'day', 'hour', 'minute', 'second'] as const).map(
    (part) => start.get(part) ?? 0,
  );
  return DateTime.fromObject({ year, month, day, hour, minute, second }, { zone }).toMillis();
}
