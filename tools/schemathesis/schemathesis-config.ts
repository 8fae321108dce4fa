/** Values by parameter (`path.topic`, `body.name`). */
export type Values<V> = Readonly<Record<string, V>>;

/** A credential and its request headers. */
export interface Turn {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The parts of the configuration that depend on the server. */
export interface RunConfig {
  /** Credentials by operation ID; requests rotate through them. */
  readonly turns: Readonly<Record<string, readonly Turn[]>>;
  /** Existing values, used in four of five requests. */
  readonly values?: Values<readonly string[]>;
  /** Fixed values by operation ID, used in all requests of the operation. */
  readonly fixed?: Readonly<Record<string, Values<string>>>;
  /** Additional statuses, by operation ID, with which an operation may reject a request that is valid by its schema. */
  readonly refusals: Readonly<Record<string, readonly string[]>>;
  /** Operation IDs that may accept a request that is invalid by its schema. */
  readonly lenient?: readonly string[];
}

/** Statuses that every operation may return for a request that is valid by the schema. */
const usualStatuses = ['2xx', '3xx', '401', '403', '404', '409'];

/** Statuses for a request that is invalid by the schema. */
const refusingStatuses = ['400', '401', '403', '404', '405', '413', '415', '422', '426'];

/** Share of requests that use an existing value, if there are several. */
const existingShare = 0.8;

/**
 * Renders the configuration as TOML. Streams are read up to their first event, without waiting for events that may not
 * come.
 */
export function schemathesisConfig({ values = {}, fixed = {}, refusals, lenient = [] }: RunConfig): string {
  return `
hooks = "rotate_credentials"
max-stream-events = 1
max-redirects = 0
request-timeout = 30
continue-on-failure = true

[auth]
auto-signup = false

[generation]
database = "none"
# Made up ones would stand before the one whose turn it is.
with-security-parameters = false

[checks]
positive_data_acceptance.expected-statuses = ${listed(usualStatuses)}
# A WebSocket's path asks for an upgrade before it looks at anything.
negative_data_rejection.expected-statuses = ${listed(refusingStatuses)}
# It asks again without a credential, which would have its turn too.
ignored_auth.enabled = false

# A method that a path does not have is refused in one place for all paths: two of them show it.
[phases.coverage]
unexpected-methods = ["DELETE", "TRACE"]

# A link may carry a null into a path, which is then no valid request.
[phases.stateful.checks]
positive_data_acceptance.enabled = false
# Nor may it name a topic by its id where its name belongs.
ensure_resource_availability.enabled = false

[dictionaries]
${Object.entries(values)
  .map(([name, list]) => `${dictionaryName(name)} = { values = ${listed(list)} }`)
  .join('\n')}

[parameters]
"query.wait" = 0
${Object.keys(values)
  .map((name) => `${quoted(name)} = { dictionary = "${dictionaryName(name)}", probability = ${existingShare} }`)
  .join('\n')}

${[...new Set([...Object.keys(fixed), ...Object.keys(refusals)])]
  .map(
    (id) => `
[[operations]]
include-operation-id = ${quoted(id)}
checks.positive_data_acceptance.expected-statuses = ${listed([...usualStatuses, ...(refusals[id] ?? [])])}
${lenient.includes(id) ? `checks.negative_data_rejection.expected-statuses = ${listed(['2xx', ...refusingStatuses])}` : ''}
[operations.parameters]
${Object.entries(fixed[id] ?? {})
  .map(([name, value]) => `${quoted(name)} = ${quoted(value)}`)
  .join('\n')}`,
  )
  .join('\n')}
`;
}

const quoted = (value: string): string => JSON.stringify(value);

const listed = (values: readonly string[]): string => `[${values.map(quoted).join(', ')}]`;

const dictionaryName = (parameter: string): string => parameter.replaceAll(/\W/g, '_');
