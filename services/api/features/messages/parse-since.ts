import { AppError } from '@tocsin/shared/domain/errors.ts';
import { parseDuration } from '@tocsin/shared/domain/duration.ts';
import { parseTime } from '@tocsin/shared/domain/parse-time.ts';
import { timeOfId } from '@tocsin/shared/platform/ids.ts';
import { nilId } from '../../live/resolve-position.ts';

/** The start of a read of history. */
export type Since =
  | { readonly kind: 'all' }
  | { readonly kind: 'id'; readonly id: string }
  /** Includes this instant; Unix time in milliseconds. */
  | { readonly kind: 'time'; readonly time: number };

/**
 * Parses `since` of `GET /{topic}/json`: `all`, a message ID, an ISO 8601 time (UTC without an offset), Unix seconds
 * with or without a fraction, or a duration before now (`30s`, `10m`, `2h`, `7d`). Throws 422 for anything else.
 */
export function parseSince(text: string, now: number): Since {
  if (text === 'all' || text === nilId) return { kind: 'all' };
  if (timeOfId(text) !== null) return { kind: 'id', id: text.toLowerCase() };
  const durationMs = parseDuration(text);
  if (durationMs !== null) return { kind: 'time', time: Math.max(0, now - durationMs) };
  if (/^\d{1,12}(\.\d{1,9})?$/.test(text)) return { kind: 'time', time: Math.round(Number(text) * 1_000) };
  const time = parseTime(text);
  if (time === null) {
    throw new AppError(
      'unprocessable',
      'since: must be a message id, an ISO 8601 time, Unix seconds, a duration such as 10m, or all',
    );
  }
  return { kind: 'time', time };
}
