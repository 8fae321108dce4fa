/** Values by the parameter that they are for (`path.topic`, `body.name`). */
export type Values<V> = Readonly<Record<string, V>>;

/** A credential, and the headers that it is sent by. */
export interface Turn {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What of a run is not the same for every server. */
export interface RunConfig {
  /** The credentials of each operation, by its id: its requests take them by turns. */
  readonly turns: Readonly<Record<string, readonly Turn[]>>;
  /** Values that exist, of which four in five requests have one. */
  readonly values?: Values<readonly string[]>;
  /** The values of single operations, by their ids: all their requests have these. */
  readonly fixed?: Readonly<Record<string, Values<string>>>;
  /** Statuses beyond the usual ones by which operations may refuse what is valid by their schema, by their ids. */
  readonly refusals: Readonly<Record<string, readonly string[]>>;
}

/** What a request that is valid by the schema may get from every operation. */
const usualStatuses = ['2xx', '3xx', '401', '403', '404', '409'];

/** What a request that is not valid by the schema has to get. */
const refusingStatuses = ['400', '401', '403', '404', '405', '413', '415', '422', '426'];

/** Share of requests that take a value that exists, where there are several. */
const existingShare = 0.8;

/** The configuration as TOML. A stream is read up to its first event, and nothing is waited for that may not come. */
export function schemathesisConfig({ values = {}, fixed = {}, refusals }: RunConfig): string {
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
