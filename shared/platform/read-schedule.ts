import { Cron } from 'croner';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Harm prevented: a schedule that is due again before it has begun. */
const intervalMsMin = 1_000;

/**
 * RETENTION_SCHEDULE: a duration (`60s`, `5m`, `1h`, `1d`) in milliseconds, or a cron expression of five fields as it is. Throws a
 * RangeError for what is neither.
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
    `RETENTION_SCHEDULE: ${JSON.stringify(text)} is neither a duration like 60s nor a cron expression of five fields`,
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
