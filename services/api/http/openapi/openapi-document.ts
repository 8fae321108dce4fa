import type { Route } from '../route.ts';
import { headers } from './headers.ts';
import { JsonSchemas, type JsonObject } from './json-schemas.ts';
import { parametersOf } from './parameters.ts';
import { errorComponents, responsesOf } from './responses.ts';
import { securityOf, securitySchemes } from './security.ts';
import { tagOf, tagsOf } from './tags.ts';

const description = `Topic notifications: publish text over HTTP; read it at once on SSE, WebSocket and phones, or later as history and as a log.

Every error is \`{"detail": "…"}\`, written for whoever made the request. Times are RFC 3339 in UTC; ids are UUIDs. Unknown
fields and query parameters are ignored, and answers may get further fields within a major version. \`HEAD\` answers as
\`GET\` without a body; a method that a path does not have is a 405 with \`Allow\`, a path that does not exist a 404.

Of several credentials only the first is looked at: \`Authorization\`, \`X-API-Key\`, then \`token\` (streams), \`api_key\` and
\`auth\` in the query. \`X-Topic-Token\` stands before them on a topic's routes and after them elsewhere.`;

/**
 * The OpenAPI 3.1 document of the routes: made of what mounts and checks them, so that it cannot say anything else.
 * Throws for a route without a chapter, for an operation id used twice, and for a schema that cannot be told.
 */
export function openApiDocument(table: readonly Route[], version: string): JsonObject {
  const schemas = new JsonSchemas();
  const paths: Record<string, JsonObject> = {};
  const pathOf = samePaths(table);
  const ids = new Set<string>();
  for (const route of table) {
    if (ids.has(route.id)) throw new Error(`two routes are called ${route.id}`);
    ids.add(route.id);
    const path = pathOf(route);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, path, schemas) };
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Tocsin', version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    tags: tagsOf(table),
    paths,
    components: { schemas: schemas.components, responses: errorComponents(schemas), headers, securitySchemes },
  };
}

/**
 * Where the document has a route. Two paths that differ only in what their parameters are called are one path for OpenAPI,
 * so all of them stand under the first.
 */
function samePaths(table: readonly Route[]): (route: Route) => string {
  const shapeOf = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');
  const first = new Map<string, string>();
  for (const { path } of table) if (!first.has(shapeOf(path))) first.set(shapeOf(path), path);
  return ({ path }) => first.get(shapeOf(path))!;
}

function operationOf(route: Route, path: string, schemas: JsonSchemas): JsonObject {
  const parameters = parametersOf(route, path, schemas);
  const body = requestBodyOf(route, schemas);
  return {
    operationId: route.id,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [tagOf(route)],
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responsesOf(route, schemas),
  };
}

function requestBodyOf(route: Route, schemas: JsonSchemas): JsonObject | undefined {
  const own = route.reads?.body;
  if (own !== undefined) {
    const schema = schemas.of(own.schema, 'input');
    return {
      ...(own.description === undefined ? {} : { description: own.description }),
      required: own.isOptional !== true,
      content: Object.fromEntries(own.contentTypes.map((type) => [type, { schema }])),
    };
  }
  if (route.body === undefined) return undefined;
  // A missing body is read as an object without a field.
  const isRequired = !route.body.safeParse({}).success;
  return { required: isRequired, content: { 'application/json': { schema: schemas.of(route.body, 'input') } } };
}
