import type { Route } from '../route.ts';
import { headers } from './headers.ts';
import { JsonSchemas, type JsonObject } from './json-schemas.ts';
import { parametersOf } from './parameters.ts';
import { errorComponents, responsesOf } from './responses.ts';
import { securityOf, securitySchemes } from './security.ts';
import { tagOf, tagsOf } from './tags.ts';

const description = `Topic notifications: publish text over HTTP and receive it immediately by SSE, WebSocket and push, or later as history and as a log.

Every error is \`{"detail": "…"}\` with a text for the caller. Times are RFC 3339 in UTC; IDs are UUIDs. Unknown
fields and query parameters are ignored, and responses may get further fields within a major version. \`HEAD\` responds like
\`GET\` without a body. An unsupported method returns 405 with \`Allow\`, an unknown path 404.

If a request has several credentials, only the first counts: \`Authorization\`, \`X-API-Key\`, then \`token\` (streams), \`api_key\` and
\`auth\` in the query. \`X-Topic-Token\` comes first on a topic's routes and last elsewhere.`;

/**
 * Creates the OpenAPI 3.1 document from the route table that also mounts and validates, so that both agree.
 * Throws for a route without a tag, a repeated operation ID, and a schema that cannot be expressed.
 */
export function openApiDocument(table: readonly Route[], version: string): JsonObject {
  const schemas = new JsonSchemas();
  const paths: Record<string, JsonObject> = {};
  const pathOf = samePaths(table);
  const ids = new Set<string>();
  for (const route of table) {
    if (ids.has(route.id)) throw new Error(`two routes have the ID ${route.id}`);
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
 * The path of a route in the document. OpenAPI treats paths that differ only in parameter names as one path,
 * so all of them appear under the first.
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
  // A missing body counts as an empty object.
  const isRequired = !route.body.safeParse({}).success;
  return { required: isRequired, content: { 'application/json': { schema: schemas.of(route.body, 'input') } } };
}
