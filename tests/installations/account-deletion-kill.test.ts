import { expect, test } from '@jest/globals';
import { write } from '@tocsin/shared/ports/documents.ts';
import { accountErasures } from '@tocsin/shared/collections/account-erasures.ts';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newLogin, newTopic } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { findTraces } from '../support/find-traces.ts';
import { Client, createAccount, createTopic } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

/** Enough that the process dies during the deletion. */
const topicCount = 2_000;

const { stack: running, store } = await useOwnStack(
  { RETENTION_SCHEDULE: '5s', ERASURE_SETTLE_SECONDS: '10', TRUST_PROXY: '1' },
  'nodes',
);

test('completes a deletion that SIGKILL interrupted', async () => {
  const { documents } = store;
  const owner = await createAccount(store, { urls: running.urls });
  const { id } = owner.user;
  const topic = await createTopic(owner);
  const text = `a text of ${id}`;
  expect((await new Client(undefined, running.urls).call('POST', `/${topic.name}`, { text })).status).toBe(200);
  for (let made = 0; made < topicCount; made += 500)
    await documents.commit(Array.from({ length: 500 }, () => write.insert(topics, newTopic(id))));
  await documents.commit(Array.from({ length: 500 }, () => write.insert(loginSessions, newLogin(id))));
  const owned = () => documents.count(topics, { index: 'byOwner', equals: { ownerId: id } });

  const api = running.nodes[0]!;
  const answer = owner.client
    .call('DELETE', '/api/users/me', { json: { password: owner.password } })
    .catch((error: unknown) => error);
  await eventually(async () => expect(await documents.get(users, id)).toBeNull(), { intervalMs: 1, timeoutMs: 60_000 });
  await api.kill();
  expect(await answer).toMatchObject({ message: 'fetch failed' }); // the connection broke before the response
  if (running.engine === 'embedded') expect(await owned()).toBeGreaterThan(0);
  expect(await documents.get(accountErasures, id)).not.toBeNull();
  await api.start();

  const said = [text, owner.email, owner.user.username];
  await eventually(async () => expect(await owned()).toBe(0), { timeoutMs: 120_000, intervalMs: 250 });
  await eventually(
    async () => {
      const places = await findTraces(running, [id, ...said]);
      expect(said.flatMap((one) => places.get(one)!)).toEqual([]);
      expect(places.get(id)).not.toContain('doc_account_erasures');
    },
    { timeoutMs: 120_000, intervalMs: 1_000 },
  );
  expect(await documents.get(accountErasures, id)).toBeNull();
  expect((await owner.client.call('GET', '/auth/me')).status).toBe(401);
}, 300_000);
