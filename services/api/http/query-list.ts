import { z } from 'zod';

/**
 * Returns the values of a list in a query: separated by commas or repeated; trimmed, without empty and repeated ones.
 */
export function listValues(given: string | readonly string[]): string[] {
  const values = (typeof given === 'string' ? [given] : given)
    .flatMap((one) => one.split(','))
    .map((value) => value.trim());
  return [...new Set(values.filter((value) => value !== ''))];
}

/** A list in a query as read by `listValues`. Only empty values mean an empty list. */
export function queryList(limits: { max: number }): z.ZodType<string[], string | string[]> {
  return z
    .union([z.string(), z.array(z.string())])
    .transform(listValues)
    .refine((values) => values.length <= limits.max, `must be at most ${limits.max}`)
    .meta({ sentAs: { type: 'array', items: { type: 'string' }, maxItems: limits.max } });
}
