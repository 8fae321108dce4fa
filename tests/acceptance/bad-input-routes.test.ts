import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { badBodies, badParameters, type Schema } from '../support/bad-values.ts';
import { Client, testStack, type Answer } from '../support/stack.ts';
import { useStack, type Caller } from '../support/use-stack.ts';
import { fixtures, makeWorld, snapshotOf, type Fixture, type World } from '../support/world.ts';

const stack = useStack();

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}
// oxlint-disable-next-line typescript/no-explicit-any -- a document of any shape, read by reference
let document: any;

let world: World;
/** Read once: a refused request changes nothing, and an account has a limit of requests. */
let standing: unknown;
const expectNothingChanged = async () => expect(await snapshotOf(world)).toEqual(standing);

beforeAll(async () => {
  document = (await new Client().call('GET', '/openapi.json')).body;
  world = await makeWorld(stack);
  standing = await snapshotOf(world);
});

/**
 * Covered by other tests: publishing accepts text, emailed links return pages, and streams are refused before they
 * start.
 */
const elsewhere = /^(POST|PUT) \/(\{topic\}(\/\{sequence_id\})?)?$|^GET \/auth\/|^GET \/(\{topic\}\/)?(sse|ws)$/;

const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : schema.$ref
        .split('/')
        .slice(1)
        .reduce((at, key) => at[key], document);
const operationOf = (name: string): Operation => {
  const [method, path] = name.split(' ') as [string, string];
  return document.paths[path][method.toLowerCase()];
};
const bodySchema = ({ requestBody }: Operation): Schema | undefined =>
  requestBody && resolve(requestBody.content['application/json']!.schema);
const queryOf = ({ parameters = [] }: Operation) => parameters.filter((parameter) => parameter.in === 'query');

function callerOf({ by = 'owner' }: Fixture): Caller {
  if (by === 'owner') return world.owner;
  return stack.caller(by === 'nobody' ? {} : { Authorization: `Bearer ${testStack().env['ADMIN_TOKEN']}` });
}

/** Sends invalid requests, a few concurrently. */
async function eachRefused<T>(
  inputs: readonly T[],
  send: (input: T) => Promise<Answer>,
  verify: (input: T, answer: Answer) => void,
): Promise<void> {
  for (let at = 0; at < inputs.length; at += 10) {
    const batch = inputs.slice(at, at + 10);
    const answers = await Promise.all(batch.map(send));
    batch.forEach((input, index) => verify(input, answers[index]!));
  }
}

const methods: Readonly<Record<string, keyof Caller>> = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  PATCH: 'patch',
  DELETE: 'delete',
};
const callWith = (caller: Caller, method: string, path: string, json?: unknown) =>
  (caller[methods[method]!] as Caller['post'])(path, json);

test('every operation with input has a row in this table', () => {
  const all = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation.requestBody !== undefined || queryOf(operation).length > 0)
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
  expect(all.filter((name) => !elsewhere.test(name) && fixtures[name] === undefined)).toEqual([]);
});

describe.each(Object.entries(fixtures))('%s', (name, fixture) => {
  const method = name.split(' ')[0]!;

  if (fixture.body !== undefined) {
    test('refuses fields that are missing, mistyped, too long, unknown or injected, and changes nothing', async () => {
      const schema = bodySchema(operationOf(name))!;
      const bad = badBodies(schema, fixture.body!(world), method === 'PATCH');
      // A field for which every value is accepted would not be validated.
      expect(new Set(bad.map(({ field }) => field))).toEqual(new Set(Object.keys(schema.properties!)));
      await eachRefused(
        bad,
        ({ body }) => callWith(callerOf(fixture), method, fixture.path(world), body),
        ({ field, body }, answer) => {
          expect({ field, body, status: answer.status, detail: answer.body?.detail }).toEqual({
            field,
            body,
            status: 422,
            detail: expect.stringMatching(new RegExp(`(^|; )${field}\\b`)),
          });
        },
      );
      await expectNothingChanged();
    });

    test('refuses a body that is not a JSON object, too large or of another media type', async () => {
      const send = (text: string | Uint8Array<ArrayBuffer>, type = 'application/json') => {
        const headers = {
          'Content-Type': type,
          ...(fixture.by === 'operator' ? { Authorization: `Bearer ${testStack().env['ADMIN_TOKEN']}` } : {}),
        };
        const client = fixture.by === undefined ? world.owner.client : new Client();
        return client.call(method, fixture.path(world), { text, headers });
      };
      const valid = JSON.stringify(fixture.body!(world));
      for (const text of ['{', valid.slice(0, -1), `${valid}x`, '{"a":1,}', '\u0000'])
        expect({ text, status: (await send(text)).status }).toEqual({ text, status: 400 });
      for (const text of ['[]', 'null', '7', '"text"', `[${valid}]`])
        expect({ text, status: (await send(text)).status }).toEqual({ text, status: 422 });
      // An absent body counts as an empty object, which is valid if no field is required.
      if (operationOf(name).requestBody!.required) expect((await send('')).status).toBe(422);
      expect((await send(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]))).status).toBe(422);
      expect((await send(valid, 'text/plain')).status).toBe(415);
      expect((await send(valid, 'application/x-www-form-urlencoded')).status).toBe(415);
      expect((await send(`{"x":"${'x'.repeat(65_536)}"}`)).status).toBe(413);
      await expectNothingChanged();
    });
  }

  test('refuses malformed and repeated parameters', async () => {
    for (const { name: parameter, schema } of queryOf(operationOf(name))) {
      const bad = badParameters(resolve(schema)).map((text) => `${parameter}=${encodeURIComponent(text)}`);
      if (resolve(schema).type !== 'array') bad.push(`${parameter}=1&${parameter}=1`);
      await eachRefused(
        bad,
        (query) => callWith(callerOf(fixture), method, `${fixture.path(world)}?${query}`, fixture.body?.(world)),
        (query, answer) => {
          expect({ query, status: answer.status, detail: answer.body?.detail }).toEqual({
            query,
            status: 422,
            detail: expect.stringContaining(parameter),
          });
        },
      );
    }
    await expectNothingChanged();
  });
});

test('returns 422 for a malformed ID in a path and changes nothing', async () => {
  const known: Readonly<Record<string, string>> = {
    topic: world.topic.name,
    name: world.topic.name,
    topic_name: world.topic.name,
    team_id: world.team,
    user_id: world.other.id,
    topic_id: world.topic.id,
  };
  for (const [path, item] of Object.entries(document.paths as Record<string, Record<string, Operation>>)) {
    const id = /\{(\w+_id)\}(?!.*\{\w+_id\})/.exec(path)?.[1];
    // A sequence ID is any text.
    if (id === undefined || id === 'sequence_id') continue;
    for (const method of Object.keys(item)) {
      for (const bad of [
        '1',
        'null',
        '%5B%24ne%5D',
        '.*',
        'a%00b',
        '%0d%0a',
        '__proto__',
        `${randomUUID()}0`,
        'x'.repeat(300),
      ]) {
        const filled = path
          .replace(`{${id}}`, bad)
          .replaceAll(/\{(\w+)\}/g, (_, parameter: string) => known[parameter] ?? randomUUID());
        const valid = fixtures[`${method.toUpperCase()} ${path}`]?.body?.(world);
        const answer = await callWith(world.owner, method.toUpperCase(), filled, valid);
        expect({ method, filled, status: answer.status, detail: answer.body?.detail }).toEqual({
          method,
          filled,
          status: 422,
          detail: `${id}: must be a UUID`,
        });
      }
    }
  }
  await expectNothingChanged();
});

test('returns 404 for a name in a path that cannot exist', async () => {
  for (const bad of [
    'a.b',
    '.*',
    '%5B%24ne%5D',
    'a%00b',
    '%0d%0aX:1',
    '__proto__',
    'constructor',
    '%7B%22%24ne%22:null%7D',
    'x'.repeat(300),
    '%F0%9F%98%80',
  ]) {
    for (const path of [
      `/${bad}/json`,
      `/api/topics/${bad}`,
      `/api/topics/${bad}/stats`,
      `/api/topics/${bad}/log`,
      `/api/topics/${bad}/consumers`,
      `/api/topics/${bad}/access-tokens`,
      `/api/subscriptions/check/${bad}`,
    ]) {
      expect({ path, ...(await world.owner.get(path)) }).toMatchObject({
        path,
        status: 404,
        body: { detail: 'Topic not found' },
      });
    }
    expect((await world.owner.publish(bad)).status).toBe(404);
  }
});
