const units = { s: 'second', m: 'minute', h: 'hour', d: 'day' } as const;
const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

interface Duration {
  readonly count: number;
  readonly unit: keyof typeof units;
}

/** The parts of a duration of the interface, such as `5m`; null for another text. */
function partsOf(text: string): Duration | null {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text.trim()) ?? [];
  return count === undefined ? null : { count: Number(count), unit: unit as Duration['unit'] };
}

/** `5 minutes` for `5m`; another text as it is. */
export function durationText(text: string): string {
  const parts = partsOf(text);
  if (parts === null) return text;
  const format = new Intl.NumberFormat(undefined, { style: 'unit', unit: units[parts.unit], unitDisplay: 'long' });
  return format.format(parts.count);
}

/** The seconds of a duration; not a number for another text. */
export function durationSeconds(text: string): number {
  const parts = partsOf(text);
  return parts === null ? Number.NaN : parts.count * unitSeconds[parts.unit];
}
