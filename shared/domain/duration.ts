const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof unitMs;

/** Returns the milliseconds of a duration such as `30s`, `10m`, `2h` or `7d`; null for any other text. */
export function parseDuration(text: string): number | null {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * unitMs[unit as Unit];
}

/** Returns the duration in its largest whole unit. `durationMs` is a multiple of a second. */
export function formatDuration(durationMs: number): string {
  const unit = (['d', 'h', 'm'] as const).find((one) => durationMs > 0 && durationMs % unitMs[one] === 0) ?? 's';
  return `${durationMs / unitMs[unit]}${unit}`;
}
