import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { StaleVersion, UniqueKeyViolation } from '@tocsin/shared/ports/documents.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
// Responds like a node whose responses differ from its document.
const liar = createServer((_request, response) =>
  response
    .writeHead(200, { 'X-Request-Id': 'x', 'Content-Type': 'application/json' })
    .end('{"status":"ok","secret":1}'),
);
liar.listen(0, '127.0.0.1');
await once(liar, 'listening');
afterAll(async () => void liar.close());

test('an undocumented response fails its test', async () => {
  const base = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
  await expect(fetch(`${base}/health/live`)).rejects.toThrow(
    /^GET \/health\/live is not as \/openapi\.json says:\n.*secret/,
  );
  await expect(fetch(`${base}/auth/me/nowhere`)).rejects.toThrow('there is no such path');
});

test('the store rejects with the error classes of the test', async () => {
  const { user } = await stack.person();
  const documents = store.documents();
  const { version: _, ...fields } = (await documents.get(users, user.id))!;
  await expect(documents.insert(users, fields)).rejects.toBeInstanceOf(UniqueKeyViolation);
  const read = (await documents.get(users, user.id))!;
  await documents.update(users, read, { additionalMembers: 1 });
  await expect(documents.update(users, read, { additionalMembers: 2 })).rejects.toBeInstanceOf(StaleVersion);
});
