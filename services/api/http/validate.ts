import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { z } from 'zod';

/** Parses an external value with its schema. Throws `unprocessable`: `<field>: <rule>`, joined with `; `. */
export function validate<T extends z.ZodType>(schema: T, value: unknown, whole = 'body'): z.output<T> {
  const parsed = schema.safeParse(value, { error: say });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues
    .slice(0, 10)
    .map((issue) => `${issue.path.length === 0 ? whole : issue.path.join('.')}: ${issue.message}`);
  throw new AppError('unprocessable', [...new Set(faults)].join('; '));
}

/** Converts an issue of zod to a rule for the caller; undefined keeps the default. */
function say(issue: z.core.$ZodRawIssue): string | undefined {
  const isAbsent = issue.input === undefined || issue.input === null;
  if (isAbsent && (issue.code === 'invalid_type' || issue.code === 'invalid_value')) return 'is required';
  if (issue.code === 'invalid_type') {
    if (Array.isArray(issue.input) && issue.expected === 'string') return 'must be given once, as a string';
    const expected = issue.expected === 'record' ? 'object' : issue.expected;
    return `must be ${/^[aeio]/.test(expected) ? 'an' : 'a'} ${expected}`;
  }
  if (issue.code === 'invalid_value') {
    return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
  }
  return undefined;
}
