import { z } from 'zod';
import { bodyBytesMax } from '../read-body.ts';
import type { Route } from '../route.ts';
import { commonHeaders, headersOfStatus, requestIdHeader, successHeaders } from './headers.ts';
import type { JsonObject, JsonSchemas } from './json-schemas.ts';

/** The body of every error response. */
const errorSchema = z
  .object({ detail: z.string() })
  .meta({ id: 'Error', description: 'The fault, described for the caller.' });

const pathParameter = /\{(\w+)\}/;
const idParameter = /\{\w*id\}/;

interface DerivedError {
  readonly status: number;
  /** The name of the component. */
  readonly name: string;
  readonly description: string;
  readonly when: (route: Route) => boolean;
}

/** When the structure of a route implies an error, and its description. */
const derived: readonly DerivedError[] = [
  {
    status: 400,
    name: 'BadRequest',
    description:
      'The request is malformed: invalid JSON, a path that cannot be decoded, or more than 100 query parameters.',
    when: () => true,
  },
  {
    status: 401,
    name: 'Unauthorized',
    description: 'A required credential is missing, or the credential is invalid, expired or revoked.',
    when: ({ audience }) => audience !== 'unread' && audience !== 'uncounted',
  },
  {
    status: 403,
    name: 'Forbidden',
    description: 'The credential lacks a scope, right or tier.',
    when: ({ audience }) => audience === 'anyone' || audience === 'account' || audience === 'login',
  },
  {
    status: 404,
    name: 'NotFound',
    description: 'The object does not exist or belongs to another account.',
    when: ({ path, audience }) => pathParameter.test(path) || audience === 'operator',
  },
  {
    status: 413,
    name: 'ContentTooLarge',
    description: `The body is larger than ${bodyBytesMax} bytes.`,
    when: readsBody,
  },
  {
    status: 415,
    name: 'UnsupportedMediaType',
    description: 'The content type is not JSON.',
    when: ({ body }) => body !== undefined,
  },
  {
    status: 422,
    name: 'ValidationError',
    description: 'A field is invalid: `<field>: <rule>`, several joined with `; `.',
    when: (route) =>
      readsBody(route) || route.query !== undefined || route.reads !== undefined || idParameter.test(route.path),
  },
  {
    status: 429,
    name: 'TooManyRequests',
    description: 'A rate limit is reached.',
    when: ({ audience }) => audience !== 'uncounted',
  },
  {
    status: 500,
    name: 'InternalServerError',
    description: 'An internal error; the log has the cause.',
    when: () => true,
  },
  {
    status: 503,
    name: 'Unavailable',
    description: 'A component that the request needs is unavailable.',
    when: ({ audience }) => audience !== 'uncounted',
  },
];

function readsBody({ body, readsBody: isOwn }: Route): boolean {
  return body !== undefined || isOwn === true;
}

/** The common errors by the name of their component. */
export function errorComponents(schemas: JsonSchemas): JsonObject {
  return Object.fromEntries(
    derived.map(({ status, name, description }) => [name, errorResponse(schemas, { status, description })]),
  );
}

/** All responses of the route by status. */
export function responsesOf(route: Route, schemas: JsonSchemas): JsonObject {
  const responses: Record<number, JsonObject> = { [route.success.status]: successResponse(route, schemas) };
  for (const { status, name, when } of derived) {
    if (when(route)) responses[status] = { $ref: `#/components/responses/${name}` };
  }
  for (const [status, told] of Object.entries(route.errors ?? {})) {
    const said = typeof told === 'string' ? { description: told } : told;
    responses[Number(status)] = errorResponse(schemas, { status: Number(status), ...said });
  }
  return responses as JsonObject;
}

function errorResponse(
  schemas: JsonSchemas,
  error: { status: number; description: string; schema?: z.ZodType },
): JsonObject {
  return {
    description: error.description,
    headers: { ...commonHeaders, ...headersOfStatus(error.status) },
    content: { 'application/json': { schema: schemas.of(error.schema ?? errorSchema, 'output') } },
  };
}

function successResponse(route: Route, schemas: JsonSchemas): JsonObject {
  const { schema, description, contentType = schema === null ? undefined : 'application/json', also } = route.success;
  return {
    description,
    headers: { ...(route.audience === 'uncounted' ? requestIdHeader : commonHeaders), ...successHeaders(route) },
    ...(contentType === undefined
      ? {}
      : {
          content: {
            [contentType]: schema === null ? {} : { schema: schemas.of(schema, 'output') },
            ...(also === undefined ? {} : { [also.contentType]: { schema: schemas.of(also.schema, 'output') } }),
          },
        }),
  };
}
