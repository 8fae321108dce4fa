import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { digestItems, digests } from '@tocsin/shared/collections/push/digests.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { createAccount, createTopic, type Account } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const expo = await startExpoSimulator();
const { stack, store } = await useOwnStack({ RATE_LIMITS: 'off', EXPO_URL: expo.url });
afterAll(() => expo.close());

const person = (): Promise<Account> => createAccount(store, { tier: 'TEAM', urls: stack.urls });

/** Returns the token of the account's new phone, which gets digests of the topics. */
async function subscribe({ client }: Account, ...topicNames: string[]): Promise<string> {
  const push_token = newPushToken.expo();
  const device = { push_token, platform: 'expo', device_id: randomUUID() };
  expect((await client.call('POST', '/api/devices/register', { json: device })).status).toBe(201);
  for (const topic_name of topicNames) {
    const json = { topic_name, mobile_notification_settings: { digest: '1h' } };
    expect((await client.call('POST', '/api/subscriptions', { json })).status).toBe(201);
  }
  return push_token;
}

async function publish({ client }: Account, topicName: string, headers: Record<string, string>): Promise<string> {
  const { status, body } = await client.call('POST', `/${topicName}`, { text: 'text', headers });
  expect(status).toBe(200);
  return body.id;
}

const deliveriesTo = async ({ client }: Account, messageId: string) =>
  (await client.call('GET', `/api/messages/${messageId}/deliveries`)).body.deliveries;
const collected = [{ status: 'skipped', reason: expect.stringMatching(/^collected for the digest at \d{4}-/) }];
const untilCollected = (account: Account, messageId: string) =>
  eventually(async () => expect(await deliveriesTo(account, messageId)).toMatchObject(collected));
const digestsOf = ({ user: { id } }: Account) =>
  store.documents.find(digests, { index: 'byUser', equals: { userId: id }, limit: 10 });

/** Ends the interval of the account's digest. */
const endInterval = (account: Account) =>
  retryStale(async () => {
    const [digest] = await digestsOf(account);
    await store.documents.update(digests, digest!, { dueAt: Date.now() });
  });

test('the priorities 1 to 3 of two topics reach the phone in one push, which the ledger tells', async () => {
  const [owner, reader] = [await person(), await person()];
  const [one, two] = [await createTopic(owner), await createTopic(owner)];
  const token = await subscribe(reader, one.name, two.name);
  const quiet = [
    await publish(owner, one.name, { 'X-Title': 'Older', 'X-Priority': '1' }),
    await publish(owner, two.name, { 'X-Title': 'Newer', 'X-Priority': '3' }),
  ];
  const urgent = await publish(owner, one.name, { 'X-Priority': '4' });
  const pushes = () => expo.pushes.filter((push) => push.token === token);
  await eventually(() => expect(pushes().map(({ messageId }) => messageId)).toEqual([urgent]));
  for (const id of quiet) await untilCollected(reader, id);
  await endInterval(reader);
  await eventually(() => expect(pushes()).toHaveLength(2));
  expect(pushes()[1]!.message).toMatchObject({
    title: '2 messages in 2 topics',
    body: `${two.name}: Newer\n${one.name}: Older`,
    data: { event: 'digest', count: 2 },
  });
  const sent = [{ status: 'sent', reason: expect.stringMatching(/^in the digest at \d{4}-/) }];
  for (const id of quiet) await eventually(async () => expect(await deliveriesTo(reader, id)).toMatchObject(sent));
});

test('a message that was read meanwhile is not pushed', async () => {
  const [owner, reader] = [await person(), await person()];
  const topic = await createTopic(owner);
  const token = await subscribe(reader, topic.name);
  const id = await publish(owner, topic.name, {});
  await untilCollected(reader, id);
  const { body } = await reader.client.call('GET', '/api/subscriptions');
  const viewed = `/api/subscriptions/${body.subscriptions[0].id}/viewed`;
  expect((await reader.client.call('POST', viewed)).status).toBeLessThan(300);
  await endInterval(reader);
  await eventually(async () =>
    expect(await deliveriesTo(reader, id)).toMatchObject([{ status: 'skipped', reason: 'read before the digest' }]),
  );
  await eventually(async () => expect(await digestsOf(reader)).toEqual([]));
  expect(expo.pushes.filter((push) => push.token === token)).toEqual([]);
});

test('the erasure of an account removes what waits for its digest', async () => {
  const [owner, reader] = [await person(), await person()];
  const topic = await createTopic(owner);
  await subscribe(reader, topic.name);
  await untilCollected(reader, await publish(owner, topic.name, {}));
  const json = { password: reader.password };
  expect((await reader.client.call('DELETE', '/api/users/me', { json })).status).toBeLessThan(300);
  await eventually(async () => {
    expect(await digestsOf(reader)).toEqual([]);
    const items = { index: 'byUser', equals: { userId: reader.user.id }, limit: 1 };
    expect(await store.documents.find(digestItems, items)).toEqual([]);
  });
});
