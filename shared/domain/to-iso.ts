const dayMs = 86_400_000;
const year10000 = Date.UTC(10_000, 0);

const twoDigits: readonly string[] = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));
const threeDigits: readonly string[] = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'));

/**
 * Formats RFC 3339 in UTC with milliseconds and `Z`, like `Date.prototype.toISOString` but five times as fast: a page
 * of the log contains thousands of times. Throws RangeError for an invalid time.
 */
export function toIso(timeMs: number): string {
  if (!(Number.isInteger(timeMs) && timeMs >= 0 && timeMs < year10000)) return new Date(timeMs).toISOString();
  const days = Math.floor(timeMs / dayMs);
  const ms = timeMs - days * dayMs;
  const seconds = Math.floor(ms / 1_000);
  const time = `${twoDigits[Math.floor(seconds / 3_600)]}:${twoDigits[Math.floor(seconds / 60) % 60]}:${twoDigits[seconds % 60]}`;
  return `${dateOf(days)}T${time}.${threeDigits[ms % 1_000]}Z`;
}

/** Like `toIso`, but null for null. */
export function isoOrNull(timeMs: number | null | undefined): string | null {
  return timeMs === null || timeMs === undefined ? null : toIso(timeMs);
}

/**
 * Converts days since 1970-01-01 to a date, with years that begin in March:
 * http://howardhinnant.github.io/date_algorithms.html#civil_from_days
 */
function dateOf(days: number): string {
  const sinceMarch0 = days + 719_468;
  const era = Math.floor(sinceMarch0 / 146_097);
  const dayOfEra = sinceMarch0 - era * 146_097;
  const leapDays = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * month + 2) / 5) + 1;
  const year = yearOfEra + era * 400 + (month < 10 ? 0 : 1);
  return `${year}-${twoDigits[month < 10 ? month + 3 : month - 9]}-${twoDigits[day]}`;
}
