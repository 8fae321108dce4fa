import { AppError } from '@tocsin/shared/domain/errors.ts';
import { parseDuration } from '@tocsin/shared/domain/duration.ts';
import { extrasLimits } from '@tocsin/shared/domain/messages/message-extras.ts';

const forbiddenSchemes = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:']);

/** Returns the URL as sent; null if absent or blank. Throws 422 unless it is absolute and its scheme is allowed. */
export function parseUrl(
  field: string,
  value: string | null | undefined,
  isAllowed: (protocol: string) => boolean = (protocol) => !forbiddenSchemes.has(protocol),
): string | null {
  const text = value?.trim() ?? '';
  if (text === '') return null;
  if (text.length > extrasLimits.urlCharacters)
    throw invalid(field, `must be at most ${extrasLimits.urlCharacters} characters`);
  // A URL with spaces or control characters reads differently in each client.
  const url = /[\s\p{Cc}]/u.test(text) || !text.isWellFormed() ? null : URL.parse(text);
  if (url === null) throw invalid(field, 'must be an absolute URL');
  if (!isAllowed(url.protocol)) throw invalid(field, `must not be a ${url.protocol} URL`);
  return text;
}

export const parseClick = (value: string | null | undefined): string | null => parseUrl('click', value);

export const parseIcon = (value: string | null | undefined): string | null =>
  parseUrl('icon_url', value, (protocol) => protocol === 'https:');

/** `1`, `yes` or `true`, in any case; `0`, `no` and `false` are the default. Throws 422 for other values. */
export function parseFlag(field: string, value: string | undefined): boolean {
  const text = value?.trim().toLowerCase() ?? '';
  if (['1', 'yes', 'true'].includes(text)) return true;
  if (['', '0', 'no', 'false'].includes(text)) return false;
  throw invalid(field, 'must be 1, yes or true, or 0, no or false');
}

/** The shortest life of a message. */
const ttlMsMin = 30_000;

/** Returns the duration in milliseconds; null if absent or blank. The topic's retention is checked later. */
export function parseTtl(value: string | undefined): number | null {
  const text = value?.trim() ?? '';
  if (text === '') return null;
  const durationMs = parseDuration(text);
  if (durationMs === null) throw invalid('ttl', 'must be a duration such as 30s, 10m, 2h or 7d');
  if (durationMs < ttlMsMin) throw invalid('ttl', 'must be at least 30s');
  return durationMs;
}

const invalid = (field: string, fault: string) => new AppError('unprocessable', `${field}: ${fault}`);
