import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';

interface Header {
  readonly required?: boolean;
  readonly schema: { readonly type: string };
}
interface Response {
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}
interface Reference {
  readonly $ref: string;
}
interface Operation {
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

/** The parts of an OpenAPI document that this checker reads. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

/** A response; `text` is undefined if the body is not checked. */
export interface Observed {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string | undefined;
}

/** Statuses for unknown operations, and those of checks that come before. */
const withoutOperation = new Set([400, 401, 404, 405, 429]);

// The package is CommonJS: its default export is the module in Node and the function for TypeScript.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default;

/** The ID under which schemas refer to the components, so that they are compiled once. */
const documentId = 'openapi';

/** Returns the differences between a response and the document as sentences; empty if it conforms. */
export class OpenApiChecker {
  readonly #document: Document;
  readonly #templates: readonly { readonly path: string; readonly form: RegExp }[];
  // Another test validates the document itself, which takes longer than everything else.
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, code: { optimize: false } });
  readonly #validators = new Map<object, ValidateFunction>();

  constructor(document: Document) {
    // Responses must not have undocumented fields, although clients must tolerate them.
    this.#document = closed(document);
    this.#templates = Object.keys(document.paths)
      .sort(fixedFirst)
      .map((path) => ({ path, form: formOf(path) }));
    addFormats(this.#ajv);
    this.#ajv.addSchema({ components: this.#document.components }, documentId);
  }

  faults(answer: Observed): string[] {
    const template = this.#templates.find(({ form }) => form.test(answer.path.replace(/(?<=.)\/$/, '')));
    const item = template === undefined ? undefined : this.#document.paths[template.path]!;
    const operation = item?.[(answer.method === 'HEAD' ? 'get' : answer.method).toLowerCase()];
    if (operation === undefined) return this.#faultsWithoutOperation(answer, item !== undefined);
    const response = operation.responses[answer.status];
    if (response === undefined) return [`the status ${answer.status} is not documented`];
    return this.#faultsOf(answer, this.#resolve(response));
  }

  #faultsWithoutOperation({ status, method }: Observed, isPath: boolean): string[] {
    if (withoutOperation.has(status)) return [];
    return [
      `${isPath ? `the path has no ${method}` : 'there is no such path'} in the document, and the answer is a ${status}`,
    ];
  }

  #faultsOf(answer: Observed, { headers = {}, content = {} }: Response): string[] {
    return [
      ...Object.entries(headers).flatMap(([name, header]) =>
        headerFaults(name, this.#resolve(header), answer.headers.get(name)),
      ),
      ...(answer.method === 'HEAD' ? [] : this.#contentFaults(answer, content)),
    ];
  }

  #contentFaults({ headers, text }: Observed, content: NonNullable<Response['content']>): string[] {
    const type = headers.get('content-type')?.split(';')[0]!.trim() ?? '';
    if (Object.keys(content).length === 0)
      return text === undefined || text === '' ? [] : [`the document knows no body, and there is one of ${type}`];
    const media = content[type];
    if (media === undefined) return [`a body of "${type}" is not documented`];
    if (type !== 'application/json' || text === undefined) return [];
    const validate = this.#validator(media.schema);
    return validate(JSON.parse(text))
      ? []
      : validate.errors!.map(
          ({ instancePath, message, params }) => `body${instancePath} ${message} ${JSON.stringify(params)}`,
        );
  }

  #validator(schema: object): ValidateFunction {
    const known = this.#validators.get(schema) ?? this.#ajv.compile(schema);
    this.#validators.set(schema, known);
    return known;
  }

  #resolve<T extends object>(of: T | Reference): T {
    if (!('$ref' in of)) return of;
    return of.$ref
      .slice(documentId.length + 2)
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], this.#document) as T;
  }
}

function headerFaults(name: string, { required, schema }: Header, value: string | null): string[] {
  if (value === null) return required === true ? [`the header ${name} is missing`] : [];
  return schema.type === 'integer' && !/^\d+$/.test(value) ? [`the header ${name} is "${value}"`] : [];
}

function formOf(path: string): RegExp {
  return new RegExp(
    `^${path
      .split('/')
      .map((segment) => (segment.startsWith('{') ? '[^/]+' : segment.replaceAll('.', '\\.')))
      .join('/')}$`,
  );
}

/** Fixed segments take precedence over parameters, from the left. */
function fixedFirst(a: string, b: string): number {
  const key = (path: string) => path.replaceAll(/\{\w+\}/g, '\u{10ffff}');
  return key(a) < key(b) ? -1 : 1;
}

function closed(document: Document): Document {
  return JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    if (key === '$ref') return `${documentId}${value as string}`;
    const schema = value as { type?: unknown; properties?: object; additionalProperties?: unknown } | null;
    const isOpen =
      schema?.type === 'object' && schema.properties !== undefined && schema.additionalProperties === undefined;
    return isOpen ? { ...schema, additionalProperties: false } : value;
  }) as Document;
}
