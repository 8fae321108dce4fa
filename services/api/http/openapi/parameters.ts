import type { z } from 'zod';
import type { Route } from '../route.ts';
import type { JsonObject, JsonSchemas } from './json-schemas.ts';

const uuid = { type: 'string', format: 'uuid' };
const topicName = {
  type: 'string',
  description: 'The name of a topic, case-insensitive.',
  pattern: '^[A-Za-z0-9_-]{1,64}$',
};

/** A path parameter: an ID or a name. */
function pathSchema(name: string): JsonObject {
  if (name.endsWith('_id')) return uuid;
  if (name === 'email') return { type: 'string', format: 'email' };
  return ['topic', 'name', 'topic_name'].includes(name) ? topicName : { type: 'string', minLength: 1 };
}

/** The parameters of the path with their names in the document. */
function pathParameters(route: Route, documentPath: string): JsonObject[] {
  const namesIn = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const names = namesIn(documentPath);
  return namesIn(route.path).map((own, at) => ({
    name: names[at],
    in: 'path',
    required: true,
    ...(names[at] === own ? {} : { description: `The \`${own}\`.` }),
    schema: pathSchema(own),
  }));
}

/** The parameters of path, query and headers. `documentPath` is the route's path in the document. */
export function parametersOf(route: Route, documentPath: string, schemas: JsonSchemas): JsonObject[] {
  return [
    ...pathParameters(route, documentPath),
    ...objectParameters('query', route.query ?? route.reads?.query, schemas),
    ...objectParameters('header', route.reads?.headers, schemas),
  ];
}

/** One parameter for each field of the schema. */
function objectParameters(
  place: 'query' | 'header',
  schema: z.ZodType | undefined,
  schemas: JsonSchemas,
): JsonObject[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemas.of(schema, 'input') as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: place,
    ...(required.includes(name) ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    schema: property,
    // Repeated, as `?tags=a&tags=b`.
    ...(property['type'] === 'array' ? { style: 'form', explode: true } : {}),
  }));
}
