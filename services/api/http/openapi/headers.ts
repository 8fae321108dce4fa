import { isPaged } from '../paging.ts';
import type { Route } from '../route.ts';
import type { JsonObject } from './json-schemas.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };

/** The headers of answers, by the name of their component. */
export const headers: Readonly<Record<string, JsonObject>> = {
  'X-Request-Id': { description: "The request's id: the caller's own if one was sent.", required: true, schema: text },
  'X-RateLimit-Limit': {
    description: 'What the window that is nearest to its end allows in all. Absent while limits are off.',
    schema: count,
  },
  'X-RateLimit-Remaining': { description: 'What it still allows.', schema: count },
  'X-RateLimit-Reset': { description: 'When it ends, in Unix seconds.', schema: count },
  'X-Total-Count': { description: 'How many there are in all.', required: true, schema: count },
  'X-Page': { description: 'The page, when it was asked for by `page` or `per_page`.', schema: count },
  'X-Per-Page': { description: 'The size of a page, when it was asked for by `page` or `per_page`.', schema: count },
  'Retry-After': { description: 'Seconds after which it is worth trying again.', schema: count },
  'WWW-Authenticate': { description: '`Bearer`.', required: true, schema: text },
};

const references = (...names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The header of every answer. */
export const requestIdHeader = references('X-Request-Id');

/** The headers of every answer to a request that a limit looks at. */
export const commonHeaders = references(
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
);

/** The headers that an answer with this status adds. */
export function headersOfStatus(status: number): JsonObject {
  if (status === 401) return references('WWW-Authenticate');
  return status === 429 || status === 503 ? references('Retry-After') : {};
}

/** The headers that only the success of the route has. */
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
