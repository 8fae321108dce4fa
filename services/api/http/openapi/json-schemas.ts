import { z } from 'zod';

export type JsonObject = Record<string, unknown>;

/**
 * Converts the schemas of requests and responses to JSON Schema. A named schema (`.meta({ id })`) appears
 * once among the components.
 */
export class JsonSchemas {
  readonly components: Record<string, JsonObject> = {};

  /** `input`: for requests; `output`: for responses. Throws if JSON Schema cannot express the schema. */
  of(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
    const { $schema: _dialect, $defs, ...json } = z.toJSONSchema(schema, { io, override: simplify });
    for (const [name, component] of Object.entries($defs ?? {})) this.#add(name, component as JsonObject);
    return pointed(json);
  }

  #add(name: string, { id: _name, ...json }: JsonObject): void {
    const component = pointed(json);
    const known = this.components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(component)) {
      throw new Error(`two schemas are called ${name}`);
    }
    this.components[name] = component;
  }
}

/** Replaces references to the schema's own definitions with references to components. */
function pointed(json: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(json), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : value,
  ) as JsonObject;
}

/** Formats whose pattern is long and redundant. */
const patternedFormats = new Set(['uuid', 'date-time']);

function simplify({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonObject }): void {
  // Values that are sent as text with another meaning describe themselves, because JSON Schema cannot express
  // transformations.
  const { sentAs, examples } = z.globalRegistry.get(zodSchema) ?? {};
  if (sentAs !== undefined) {
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
    Object.assign(jsonSchema, sentAs);
  }
  if (examples !== undefined) jsonSchema['examples'] = examples; // which zod omits for transformations
  if (patternedFormats.has(String(jsonSchema['format']))) delete jsonSchema['pattern'];
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum'];
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
  // Responses may get further fields within a major version.
  if (jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties'];
  if (zodSchema._zod.def.type === 'default')
    jsonSchema['default'] = asSent(zodSchema._zod.def.defaultValue, jsonSchema);
}

/** A default has the sent form, which is text in a query. */
function asSent(value: unknown, { type }: JsonObject): unknown {
  return type === 'string' ? String(value) : value;
}
