import type { RunConfig, Values } from '../../tools/schemathesis/schemathesis-config.ts';
import { credentialKinds, type Arranged, type CredentialKind, type Things } from './arrange-target.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: { readonly format?: string };
  }[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly responses: Readonly<Record<string, object>>;
}

/** What is read of an OpenAPI document here. */
export interface Document {
  readonly components: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const times = 'a time is on the calendar, and an end is in the future';
const passwords = 'a password has at most 72 bytes';
const positions = 'a position is the id of a message, which has a version of UUID of its own';
const texts = 'the text comes from somewhere, and the other fields from wherever they may';
const tags = 'at most 20 different tags, each of at most 64 characters';

/** Operations with rules that JSON Schema cannot say, and such a rule of each. */
const rulesBeyondSchema: Readonly<Record<string, string>> = {
  publish: texts,
  publishByPut: texts,
  publishJson: texts,
  publishJsonByPut: texts,
  createTopic: 'what can be discovered is described, and no topic keeps messages longer than its tier grants',
  updateTopic: 'as at the creation',
  searchMessages: times,
  searchTopic: times,
  getActivity: times,
  createApiKey: times,
  createTopicToken: times,
  setTier: times,
  getHistory: times,
  getLog: 'one position is given, not two',
  streamTopicBySse: positions,
  streamTopicsBySse: 'a session or topics are given',
  createStreamSession: positions,
  register: passwords,
  changePassword: passwords,
  confirmPasswordReset: passwords,
  createSubscription: tags,
  updateSubscription: tags,
  previewSubscription: 'a time zone has a name, and quiet hours end at another time than they start',
  redriveDeadLetters: 'exactly one of three is given',
  listAuditEntries: times,
  runRetention: 'the time is not to come',
  confirmRetention: 'the time is not to come',
};

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

/** Every operation, as Schemathesis calls it too: `GET /sse`. */
export function labelsOf(
  document: Document,
): readonly { readonly label: string; readonly method: string; readonly path: string; readonly operationId: string }[] {
  return operationsOf(document).map(({ path, method, operation: { operationId } }) => ({
    label: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    operationId,
  }));
}

/** One account for every operation, so that a row of requests finds what it has made. */
export function sameTurn(document: Document, credentials: Arranged['credentials']): RunConfig['turns'] {
  const name = 'a login (TEAM)';
  return Object.fromEntries(
    operationsOf(document).map(({ operation: { operationId } }) => [
      operationId,
      [{ name, headers: credentials[name] }],
    ]),
  );
}

/** Each operation's credentials, by turns: whoever may do most comes first, gets furthest, and so has half of the turns. */
export function turnsOf(document: Document, credentials: Arranged['credentials']): RunConfig['turns'] {
  const turn = (name: CredentialKind) => ({ name, headers: credentials[name] });
  return Object.fromEntries(
    operationsOf(document).map(({ operation: { operationId, security } }) => {
      const strongest: CredentialKind = security.some((kinds) => 'adminToken' in kinds)
        ? 'ADMIN_TOKEN'
        : 'a login (TEAM)';
      const others = credentialKinds.filter((kind) => kind !== strongest);
      return [operationId, [strongest, ...others, ...others.slice(1).map(() => strongest)].map(turn)];
    }),
  );
}

/** How many operations delete what their path names: each needs things of its own. */
export function countDeletions(document: Document): number {
  return operationsOf(document).filter(({ method }) => method === 'delete').length;
}

/**
 * The statuses by which an operation may refuse a request that is valid by its schema: those that it describes in words of
 * its own, and 422 where a rule is beyond JSON Schema.
 */
export function refusalsOf(document: Document): RunConfig['refusals'] {
  return Object.fromEntries(
    operationsOf(document).map(({ operation: { operationId, responses } }) => [
      operationId,
      [
        ...['400', '426'].filter((status) => responses[status] !== undefined && !('$ref' in responses[status])),
        ...(rulesBeyondSchema[operationId] === undefined ? [] : ['422']),
      ],
    ]),
  );
}

/** Gives every operation things that exist for its path: those that delete some of their own, all others the first ones. */
export function fixedValues(document: Document, things: readonly Things[]): NonNullable<RunConfig['fixed']> {
  let deletions = 0;
  return Object.fromEntries(
    operationsOf(document).map(({ method, operation }) => {
      if (method === 'delete') deletions += 1;
      const { topicId, byParameter } = things[method === 'delete' ? deletions : 0]!;
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      // `/api/topics/{name}` is a name to read, and an id to change.
      const valueOf = (name: string, format: string | undefined) =>
        name === 'name' && format === 'uuid' ? topicId : byParameter[name];
      const known = inPath.flatMap(({ name, schema }) => {
        const value = valueOf(name, schema.format);
        return value === undefined ? [] : [[`path.${name}`, value] as const];
      });
      return [operation.operationId, Object.fromEntries(known)];
    }),
  );
}

/** All that exists, to be picked from by chance. */
export function anyValues(things: readonly Things[]): Values<readonly string[]> {
  const names = Object.keys(things[0]!.byParameter);
  const listOf = (name: string) => things.map(({ byParameter }) => byParameter[name]!);
  return {
    ...Object.fromEntries(names.map((name) => [`path.${name}`, listOf(name)])),
    'body.topic': listOf('topic'),
    'body.topic_name': listOf('topic'),
    'body.topics[*]': listOf('topic'),
    'query.topic': listOf('topic'),
    'query.topics': listOf('topic'),
  };
}
