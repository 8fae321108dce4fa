import { z } from 'zod';

export type JsonObject = Record<string, unknown>;

/**
 * Turns the schemas that check requests and describe answers into JSON Schema. One with a name (`.meta({ id })`) stands
 * once among the components.
 */
export class JsonSchemas {
  readonly components: Record<string, JsonObject> = {};

  /** `input`: what may be sent; `output`: what is answered. Throws for a schema that JSON Schema cannot say. */
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

/** With references to components in the place of those to the schema's own definitions. */
function pointed(json: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(json), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : value,
  ) as JsonObject;
}

/** Formats whose pattern says the same again, at a length that nobody reads. */
const patternedFormats = new Set(['uuid', 'date-time']);

function simplify({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonObject }): void {
  // What is sent as text and meant as something else says so itself, since its transformation cannot.
  const { sentAs, examples } = z.globalRegistry.get(zodSchema) ?? {};
  if (sentAs !== undefined) {
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
    Object.assign(jsonSchema, sentAs);
  }
  if (examples !== undefined) jsonSchema['examples'] = examples; // which zod drops where there is a transformation
  if (patternedFormats.has(String(jsonSchema['format']))) delete jsonSchema['pattern'];
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum'];
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
  // Answers may get further fields within a major version.
  if (jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties'];
  if (zodSchema._zod.def.type === 'default')
    jsonSchema['default'] = asSent(zodSchema._zod.def.defaultValue, jsonSchema);
}

/** A default is said in the form that is sent, which in a query is text. */
function asSent(value: unknown, { type }: JsonObject): unknown {
  return type === 'string' ? String(value) : value;
}
