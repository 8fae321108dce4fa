import { parseTime, timePattern } from '@tocsin/shared/domain/parse-time.ts';
import { z } from 'zod';

/** A time in a body or query, as Unix time in milliseconds. */
export function timeField(bareDate: 'startOfDay' | 'endOfDay' = 'startOfDay'): z.ZodType<number, string> {
  return z
    .string()
    .transform((text, context) => {
      const time = parseTime(text, bareDate);
      if (time !== null) return time;
      context.addIssue({ code: 'custom', message: 'must be a date or an RFC 3339 time' });
      return z.NEVER;
    })
    .meta({
      sentAs: {
        type: 'string',
        pattern: timePattern.source,
        description: 'A date, or an RFC 3339 time with any offset or none (UTC).',
      },
    });
}
