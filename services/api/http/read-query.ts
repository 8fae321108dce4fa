import type { z } from 'zod';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { isPaged, withoutUnreadPaging } from './paging.ts';
import type { RequestContext, Route } from './route.ts';
import { validate } from './validate.ts';

/** Limits the work per request. No route has as many parameters; a list may repeat one up to 100 times. */
export const queryParametersMax = 100;
const queryValuesMax = 400;

/** Parses the query of the URL. Returns null if it has too many parameters or values. */
export function parseQuery(url: string): URLSearchParams | null {
  const at = url.indexOf('?');
  if (at < 0) return new URLSearchParams();
  let values = 1;
  for (let next = url.indexOf('&', at); next >= 0; next = url.indexOf('&', next + 1)) values += 1;
  if (values > queryValuesMax) return null;
  const parsed = new URLSearchParams(url.slice(at + 1));
  return values > queryParametersMax && new Set(parsed.keys()).size > queryParametersMax ? null : parsed;
}

/** Parses the query with its schema. Throws 422. */
export function readQuery<Q extends z.ZodType>(
  schema: Q,
  { searchParams }: Pick<RequestContext, 'searchParams'>,
): z.output<Q> {
  const sent = queryObject(searchParams);
  return validate(schema, isPaged(schema) ? withoutUnreadPaging(sent) : sent, 'query');
}

/** Throws 422 for a repeated credential in the query, which route schemas do not cover. */
export function requireCredentialOnce(searchParams: URLSearchParams, { isStream }: Pick<Route, 'isStream'>): void {
  if (searchParams.size < 2) return;
  for (const name of isStream === true ? ['token', 'api_key', 'auth'] : ['api_key', 'auth']) {
    if (searchParams.getAll(name).length > 1) throw new AppError('unprocessable', `${name}: must be given once`);
  }
}

/** A repeated parameter becomes an array, which the schema of a single value refuses. */
function queryObject(searchParams: URLSearchParams): Record<string, string | string[]> {
  const object = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of searchParams) {
    const earlier = object[name];
    if (earlier === undefined) object[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else object[name] = [earlier, value];
  }
  return object;
}
