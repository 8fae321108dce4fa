const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration such as `30s`, `10m`, `2h` or `7d` to milliseconds; null if malformed. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  return match === null ? null : Number(match[1]) * unitMs[match[2]!]!;
}
