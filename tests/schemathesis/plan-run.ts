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

/** The parts of an OpenAPI document that the plan reads. */
export interface Document {
  readonly components: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const times = 'a time is on the calendar, and an end is in the future';
const passwords = 'a password has at most 72 bytes';
const positions = 'a position is the id of a message, which has a version of UUID of its own';
const texts = 'the text comes from somewhere, and the other fields from wherever they may';
const tags = 'at most 20 different tags, each of at most 64 characters';

/** Operations with rules that JSON Schema cannot express, and one such rule of each. */
const rulesBeyondSchema: Readonly<Record<string, string>> = {
  publish: texts,
  publishByPut: texts,
  publishInSequence: texts,
  publishInSequenceByPut: texts,
  publishJson: texts,
  publishJsonByPut: texts,
  createTopic: 'what can be discovered is described, and no topic keeps messages longer than its tier grants',
  updateTopic: 'as at the creation',
  searchMessages: times,
  searchTopic: times,
  getActivity: times,
  registerDevice: 'the push token of a browser is its subscription',
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
  createTeamSubscription: 'the topic is one of the team',
  putEscalation: 'durations and steps rise, users can read the topic, and topics form no cycle',
  redriveDeadLetters: 'exactly one of three is given',
  listAuditEntries: times,
  runRetention: 'the time is not to come',
  confirmRetention: 'the time is not to come',
};

/** Of their two fixed path parameters, Schemathesis takes one for a value of a wrong type; both are text. */
export const lenientOperations: readonly string[] = ['publishInSequence', 'publishInSequenceByPut'];

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

/** Every operation by Schemathesis's name: `GET /sse`. */
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

/** One account for all operations, so that a sequence of requests finds what it created. */
export function sameTurn(document: Document, credentials: Arranged['credentials']): RunConfig['turns'] {
  const name = 'a login (TEAM)';
  return Object.fromEntries(
    operationsOf(document).map(({ operation: { operationId } }) => [
      operationId,
      [{ name, headers: credentials[name] }],
    ]),
  );
}

/**
 * The credentials of each operation, alternating: the most privileged one comes first and gets half of the requests.
 */
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

/** The number of operations that delete the object in their path: each needs its own objects. */
export function countDeletions(document: Document): number {
  return operationsOf(document).filter(({ method }) => method === 'delete').length;
}

/**
 * The statuses with which an operation may refuse a request that is valid by its schema: those with their own
 * description, and 422 for rules beyond JSON Schema.
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

/**
 * Gives every operation existing objects for its path: deleting operations get their own, all others share the first
 * ones.
 */
export function fixedValues(document: Document, things: readonly Things[]): NonNullable<RunConfig['fixed']> {
  let deletions = 0;
  return Object.fromEntries(
    operationsOf(document).map(({ method, operation }) => {
      if (method === 'delete') deletions += 1;
      const { topicId, byParameter } = things[method === 'delete' ? deletions : 0]!;
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      // Reads of `/api/topics/{name}` use a name and changes an ID.
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

/** All existing objects, for random selection. */
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
