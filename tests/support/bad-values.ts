/** The part of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly $ref?: string;
}

/** Values that a document store could interpret as conditions. */
const operators: readonly unknown[] = [{ $ne: null }, { $gt: '' }, { $regex: '.*' }, { $where: 'sleep(1000)' }];
/** Values that are invalid as name, ID, time or keyword. */
const injections = [
  '.*',
  '^(a+)+$',
  "' OR 1=1 --",
  '__proto__',
  'constructor',
  'a\r\nSet-Cookie: b',
  'a\u0000b',
  '\ud800',
  '../../etc/passwd',
  '${7*7}',
  '{{7*7}}',
];
const hugeNumbers = [2 ** 53, 2 ** 63, 2 ** 64, 1e308];

const alternatives = (schema: Schema): readonly Schema[] | undefined =>
  schema.anyOf ??
  schema.oneOf ??
  (Array.isArray(schema.type) ? (schema.type as string[]).map((type) => ({ ...schema, type })) : undefined);

/** The types that a value may have, without null. */
function formsOf(schema: Schema): readonly Schema[] {
  const of = alternatives(schema);
  return of === undefined ? (schema.type === 'null' ? [] : [schema]) : of.flatMap(formsOf);
}

const isNullable = (schema: Schema): boolean => schema.type === 'null' || (alternatives(schema) ?? []).some(isNullable);

/** JSON values that the schema refuses: wrong type, out of bounds, unknown, injected. */
function badValues(schema: Schema): unknown[] {
  const forms = formsOf(schema);
  const types = new Set(forms.map(({ type }) => type));
  const ofOtherTypes = [
    ...(types.has('string') ? [] : ['text', '']),
    ...(types.has('number') || types.has('integer') ? [] : [7, 0, -1.5]),
    ...(types.has('boolean') ? [] : [true]),
    ...(types.has('array') ? [] : [[], ['text'], [null]]),
    ...(types.has('object') ? [] : [{}, ...operators]),
  ];
  return forms.length !== 1 ? ofOtherTypes : [...ofOtherTypes, ...badValuesOf(forms[0]!)];
}

function badValuesOf(schema: Schema): unknown[] {
  switch (schema.type) {
    case 'string':
      return badTexts(schema);
    case 'integer':
      return [1.5, ...badNumbers(schema)];
    case 'number':
      return badNumbers(schema);
    case 'array':
      return [
        ...badValues(schema.items ?? {})
          .slice(0, 12)
          .map((value) => [value]),
        ...(schema.maxItems === undefined
          ? []
          : [Array.from({ length: schema.maxItems + 1 }, (_, index) => `item-${index}`)]),
      ];
    default:
      return [];
  }
}

function badTexts({ enum: words, format, pattern, minLength = 0, maxLength }: Schema): string[] {
  const isClosed =
    words !== undefined || pattern !== undefined || format === 'uuid' || format === 'date-time' || format === 'email';
  // Texts for lookups and comparisons may be arbitrary; stored texts must be Unicode.
  const unknown = isClosed ? [...injections, '', ' '] : maxLength === undefined ? [] : ['\ud800'];
  return [
    ...unknown.filter(
      (text) => !words?.includes(text) && (pattern === undefined || !new RegExp(pattern, 'u').test(text)),
    ),
    ...(minLength > 0 ? [''] : []),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
  ];
}

function badNumbers({ minimum, maximum }: Schema): number[] {
  return [
    ...(minimum === undefined ? [] : [minimum - 1, -hugeNumbers[2]!]),
    ...(maximum === undefined ? [] : [maximum + 1, ...hugeNumbers.filter((number) => number > maximum)]),
  ];
}

/** Bodies that the schema refuses, derived from a valid one with one fault in one field. */
export function badBodies(
  schema: Schema,
  valid: Readonly<Record<string, unknown>>,
  isPatch: boolean,
): { field: string; body: unknown }[] {
  const required = schema.required ?? [];
  return Object.entries(schema.properties ?? {}).flatMap(([field, of]) => {
    const isRequired = required.includes(field);
    const without = Object.fromEntries(Object.entries(valid).filter(([name]) => name !== field));
    return [
      ...badValues(of).map((value) => ({ field, body: { ...valid, [field]: value } })),
      ...(isRequired
        ? [
            { field, body: without },
            { field, body: { ...valid, [field]: null } },
          ]
        : []),
      ...(isPatch && !isRequired && !isNullable(of) ? [{ field, body: { ...valid, [field]: null } }] : []),
    ];
  });
}

/** Query values that the schema refuses. */
export function badParameters(schema: Schema): string[] {
  const [form = {}] = formsOf(schema);
  const numbers = [
    'x',
    '1.5',
    '1e3',
    '0x10',
    ' 1',
    '1;DROP TABLE',
    '99999999999999999999',
    '{"$gt":0}',
    'NaN',
    '-9223372036854775809',
  ];
  if (form.type === 'integer')
    return [
      ...numbers,
      ...(form.minimum === undefined ? [] : [String(form.minimum - 1)]),
      ...(form.maximum === undefined ? [] : [String(form.maximum + 1)]),
    ];
  if (form.type === 'boolean') return ['maybe', '2', 'TRUE!', '{"$ne":null}'];
  if (form.type === 'array') return [];
  return badTexts(form).filter((text) => text !== '' && text.isWellFormed());
}
