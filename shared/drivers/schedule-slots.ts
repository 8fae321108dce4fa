import { Cron } from 'croner';
import type { Schedule } from '../ports/job-queue.ts';

/** The due times of a schedule. */
export interface ScheduleSlots {
  /** Returns the first slot after the time, in milliseconds since the epoch, or null. */
  after(time: number): number | null;
}

/**
 * Returns the slots of a schedule: multiples of its interval since the epoch, or the times that its cron expression
 * matches in UTC, so that every replica computes the same ones. Throws RangeError for an invalid interval or
 * expression.
 */
export function scheduleSlots(every: Schedule['every']): ScheduleSlots {
  if (typeof every === 'number') {
    if (!Number.isInteger(every) || every < 1) throw new RangeError(`invalid interval in milliseconds: ${every}`);
    return { after: (time) => (Math.floor(time / every) + 1) * every };
  }
  const cron = parse(every);
  return { after: (time) => cron.nextRun(new Date(time))?.getTime() ?? null };
}

function parse(expression: string): Cron {
  try {
    return new Cron(expression, { mode: '5-part', timezone: 'UTC' });
  } catch (error) {
    throw new RangeError(`invalid cron expression, five fields are required: ${expression}`, { cause: error });
  }
}
