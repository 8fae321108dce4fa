/**
 * A date, or a date and time with an optional offset (RFC 3339, also without seconds or with ISO 8601's `+0200`). The
 * plus of an unescaped offset in a query arrives as a space.
 */
export const timePattern =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?:[Tt ]([01]\d|2[0-4]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:([Zz])|([+ -])([01]\d|2[0-3]):?([0-5]\d))?)?$/;

const dayMs = 86_400_000;

/**
 * Parses a time to milliseconds since the epoch; null if invalid. Without an offset it is UTC. A bare date is its
 * first millisecond, or with `endOfDay` its last.
 */
export function parseTime(text: string, bareDate: 'startOfDay' | 'endOfDay' = 'startOfDay'): number | null {
  const match = timePattern.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second = '00', fraction = '', , sign, offsetHours, offsetMinutes] = match;
  const offset = sign === undefined ? 'Z' : `${sign === '-' ? '-' : '+'}${offsetHours}:${offsetMinutes}`;
  const date = Date.parse(`${year}-${month}-${day}T00:00:00.000Z`);
  // The runtime parses 30 February as 1 March.
  if (Number.isNaN(date) || new Date(date).getUTCDate() !== Number(day)) return null;
  if (hour === undefined || minute === undefined) return bareDate === 'startOfDay' ? date : date + dayMs - 1;
  const time = Date.parse(
    `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}${offset}`,
  );
  return Number.isNaN(time) ? null : time;
}
