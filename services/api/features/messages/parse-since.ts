import { AppError } from '@tocsin/shared/domain/errors.ts';
import { timeOfId } from '@tocsin/shared/platform/ids.ts';
import { nilId } from '../../live/resolve-position.ts';

/** Where a reader of history starts. */
export type Since =
  | { readonly kind: 'all' }
  | { readonly kind: 'id'; readonly id: string }
  /** Includes this very instant; milliseconds since the epoch. */
  | { readonly kind: 'time'; readonly time: number };

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const isoForm = /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)?$/;

/**
 * `since` of `GET /{topic}/json`: `all`, a message id, an ISO 8601 time (UTC without an offset), Unix seconds, or a
 * duration back from now (`30s`, `10m`, `2h`, `7d`). Throws 422 for anything else.
 */
export function parseSince(text: string, now: number): Since {
  if (text === 'all' || text === nilId) return { kind: 'all' };
  if (timeOfId(text) !== null) return { kind: 'id', id: text.toLowerCase() };
  const duration = /^(\d{1,9})([smhd])$/.exec(text);
  if (duration !== null) return { kind: 'time', time: now - Number(duration[1]) * unitMs[duration[2]!]! };
  if (/^\d{1,12}$/.test(text)) return { kind: 'time', time: Number(text) * 1_000 };
  const time = parseIsoTime(text);
  if (time === null) {
    throw new AppError('unprocessable', 'since: must be a message id, an ISO 8601 time, Unix seconds, a duration such as 10m, or all');
  }
  return { kind: 'time', time };
}

/** An ISO 8601 time in milliseconds since the epoch, UTC where it names no offset; null when it is none. */
export function parseIsoTime(text: string): number | null {
  // A query's `+` arrives as a space: `2026-01-01T00:00:00+02:00` is meant.
  const restored = text.replace(/ (\d{2}:?\d{2})$/, '+$1').replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T');
  if (!isoForm.test(restored)) return null;
  const hasZone = restored.length === 10 || /(?:[Zz]|[+-]\d{2}:?\d{2})$/.test(restored.slice(10));
  const time = Date.parse(hasZone ? restored : `${restored}Z`);
  return Number.isNaN(time) ? null : time;
}
