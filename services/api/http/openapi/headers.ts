import { isPaged } from '../paging.ts';
import type { Route } from '../route.ts';
import type { JsonObject } from './json-schemas.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };

/** The response headers by the name of their component. */
export const headers: Readonly<Record<string, JsonObject>> = {
  'X-Request-Id': { description: "The ID of the request: the caller's if one was sent.", required: true, schema: text },
  'X-RateLimit-Limit': {
    description: 'The limit of the window with the fewest remaining uses. Absent if limits are off.',
    schema: count,
  },
  'X-RateLimit-Remaining': { description: 'The remaining uses of that window.', schema: count },
  'X-RateLimit-Reset': { description: 'The end of that window in Unix seconds.', schema: count },
  'X-Total-Count': { description: 'The total number of items.', required: true, schema: count },
  'X-Page': { description: 'The page number, if requested by `page` or `per_page`.', schema: count },
  'X-Per-Page': { description: 'The page size, if requested by `page` or `per_page`.', schema: count },
  'Retry-After': { description: 'Seconds to wait before a retry.', schema: count },
  'WWW-Authenticate': { description: '`Bearer`.', required: true, schema: text },
};

const references = (...names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The headers of every response. */
export const requestIdHeader = references('X-Request-Id');

/** The headers of every response to a rate limited request. */
export const commonHeaders = references(
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
);

/** The additional headers of a response with this status. */
export function headersOfStatus(status: number): JsonObject {
  if (status === 401) return references('WWW-Authenticate');
  return status === 429 || status === 503 ? references('Retry-After') : {};
}

/** The additional headers of the route's success. */
export function successHeaders(route: Route): JsonObject {
  const own = Object.entries(route.success.headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: text },
  ]);
  return {
    ...(isPaged(route.query) ? references('X-Total-Count', 'X-Page', 'X-Per-Page') : {}),
    ...(Object.fromEntries(own) as JsonObject),
  };
}
