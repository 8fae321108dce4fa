import { z } from 'zod';

/** A whole number in a query within bounds; 422 otherwise. */
export function queryInteger(bounds: { min: number; max: number }): z.ZodType<number> {
  const message = `must be a whole number from ${bounds.min} to ${bounds.max}`;
  return z
    .string()
    .regex(/^-?\d{1,16}$/, message)
    .transform(Number)
    .pipe(z.number().min(bounds.min, message).max(bounds.max, message))
    .meta({ sentAs: { type: 'integer', minimum: bounds.min, maximum: bounds.max } });
}

/** `true`, `false`, `1`, `0`. */
export const queryBoolean = z
  .enum(['true', 'false', '1', '0'], 'must be true, false, 1 or 0')
  .transform((value) => value === 'true' || value === '1');

const offsetMax = 1_000_000_000;

/** `limit` and `offset`, or `page` and `per_page`, to spread into the query schema of a list. */
export function pagingFields(limits: { default: number; max: number }) {
  return {
    limit: queryInteger({ min: 1, max: limits.max }).default(limits.default),
    offset: queryInteger({ min: 0, max: offsetMax }).default(0),
    page: queryInteger({ min: 1, max: 1_000_000 })
      .optional()
      .describe('With `page` or `per_page` (default 1 and 20) `limit` and `offset` are ignored.'),
    per_page: queryInteger({ min: 1, max: 100 }).optional(),
  };
}

/** Whether a query schema has the fields of a paginated list. */
export function isPaged(query: z.ZodType | undefined): boolean {
  return query !== undefined && 'per_page' in ((query as { shape?: object }).shape ?? {});
}

/**
 * Returns the relevant part of a list's query: with `page` or `per_page` even an invalid `limit` or `offset` is
 * ignored.
 */
export function withoutUnreadPaging(sent: Record<string, string | string[]>): Record<string, string | string[]> {
  if (sent['page'] === undefined && sent['per_page'] === undefined) return sent;
  const { limit: _limit, offset: _offset, ...read } = sent;
  return read;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** Set if the caller requested a page by number. */
  readonly page?: { readonly number: number; readonly size: number };
}

/** With `page` or `per_page` (default 1 and 20) `limit` and `offset` are not looked at. */
export function pageOf(query: {
  limit: number;
  offset: number;
  page?: number | undefined;
  per_page?: number | undefined;
}): Page {
  if (query.page === undefined && query.per_page === undefined) return { limit: query.limit, offset: query.offset };
  const number = query.page ?? 1;
  const size = query.per_page ?? 20;
  return { limit: size, offset: (number - 1) * size, page: { number, size } };
}

/** `X-Total-Count`, and with `page` also `X-Page` and `X-Per-Page`. */
export function pageHeaders(page: Page, total: number): Record<string, string> {
  return {
    'X-Total-Count': String(total),
    ...(page.page === undefined ? {} : { 'X-Page': String(page.page.number), 'X-Per-Page': String(page.page.size) }),
  };
}
