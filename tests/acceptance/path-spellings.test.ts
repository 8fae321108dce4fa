import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { readOperations } from '../support/operations.ts';
import { newAddress, newTopicName, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const operations = await readOperations();

/** The only operations whose path may end with a slash. */
const mayEndWithSlash = new Set(['POST /{topic}', 'PUT /{topic}']);

const fill = (path: string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name.endsWith('_id') ? randomUUID() : newTopicName()));

/** Returns the other spellings of the operation's path, in which parameters keep their case. */
function spellingsOf({ name, path }: { readonly name: string; readonly path: string }): string[] {
  const upper = path.replaceAll(/\/[a-z0-9.-]+/g, (segment) => segment.toUpperCase());
  const withSlash = mayEndWithSlash.has(name) ? [] : [`${path}/`];
  return [...withSlash, ...(upper === path ? [] : [upper, `${upper}/`])].map(fill);
}

/** Not with the client, which would look up the path in the OpenAPI document. */
async function call(method: string, path: string, token: string): Promise<{ status: number; detail: unknown }> {
  const request = httpRequest(testStack().urls[0] + path, {
    method,
    headers: { 'X-Forwarded-For': newAddress(), Authorization: `Bearer ${token}` },
  });
  const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
  const { detail } = (await json(response)) as { detail?: unknown };
  return { status: response.statusCode!, detail };
}

test('no operation answers to its path in upper case or with a slash at the end, unless documented', async () => {
  const { client } = await stack.person();
  const tokenFor = (path: string) => (/^\/admin\//.test(path) ? testStack().env['ADMIN_TOKEN']! : client.token!);
  const answered: string[] = [];
  let calls = 0;
  for (const operation of operations) {
    for (const path of spellingsOf(operation)) {
      const { status, detail } = await call(operation.method, path, tokenFor(path));
      calls += 1;
      // The operation itself would report the kind of object, as `Topic not found`.
      const isUnknown = (status === 404 && detail === 'Not found') || status === 405;
      if (!isUnknown) answered.push(`${operation.method} ${path}: ${status} ${String(detail)}`);
    }
  }
  expect(answered).toEqual([]);
  expect(calls).toBeGreaterThan(2 * operations.length);
});
