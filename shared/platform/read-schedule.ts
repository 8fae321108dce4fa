import { Cron } from 'croner';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The shortest interval. A shorter one would be due again before its run starts. */
const intervalMsMin = 1_000;

/**
 * Parses RETENTION_SCHEDULE: a duration (`60s`, `5m`, `1h`, `1d`) to milliseconds; returns a cron expression of five
 * fields unchanged. Throws RangeError otherwise.
 */
export function readSchedule(text: string): number | string {
  const trimmed = text.trim();
  const duration = /^(\d+)(s|m|h|d)$/.exec(trimmed);
  if (duration !== null) {
    const ms = Number(duration[1]) * unitMs[duration[2] as keyof typeof unitMs];
    if (ms >= intervalMsMin) return ms;
  } else if (isCron(trimmed)) {
    return trimmed;
  }
  throw new RangeError(
    `RETENTION_SCHEDULE: ${JSON.stringify(text)} must be a duration like 60s or a cron expression of five fields`,
  );
}

function isCron(text: string): boolean {
  if (!/^\S+(\s+\S+){4}$/.test(text)) return false;
  try {
    return new Cron(text, { mode: '5-part', timezone: 'UTC' }).nextRun() !== null;
  } catch {
    return false;
  }
}
