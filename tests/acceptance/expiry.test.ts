import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Client, createAccount, createTopic, type Account } from './stack.ts';
import { useOwnStack } from './use-own-stack.ts';

/** Long enough to be seen everywhere before its end, on a busy machine, too. */
const lifetimeMs = 12_000;
const patience = { intervalMs: 250, timeoutMs: 3 * lifetimeMs };

// Messages live for some seconds, and nothing is swept: what has expired is hidden, not gone.
const { stack: running, store } = await useOwnStack({ RETENTION_DAYS_FREE: String(lifetimeMs / 86_400_000), RETENTION_SCHEDULE: '0 0 1 1 *', TRUST_PROXY: '1' });

let owner: Account;
beforeAll(async () => {
  owner = await createAccount(store, { urls: running.urls });
});

test('a message shows nowhere from the moment on that it expires, swept or not', async () => {
  const client = new Client(undefined, running.urls);
  const topic = await createTopic(owner);
  const shown = async () => {
    const reader = new Client(undefined, running.urls); // with a budget of its own
    const history = await reader.call('GET', `/${topic.name}/json?since=all`);
    const log = await reader.call('GET', `/api/topics/${topic.name}/log`);
    const found = await reader.call('GET', `/api/topics/${topic.name}/messages`);
    const withDeleted = await owner.client.call('GET', `/api/topics/${topic.name}/messages?include_deleted=true`);
    const search = await owner.client.call('GET', `/api/messages/search?topic=${topic.name}`);
    const recent = await owner.client.call('GET', `/api/messages/recent?topic=${topic.name}`);
    const activity = await owner.client.call('GET', `/api/messages/activity?topics=${topic.name}`);
    return [history.body.count, log.body.records.length, found.body.total, withDeleted.body.total, search.body.total, recent.body.length, activity.body.total];
  };
  expect((await owner.client.call('POST', '/api/subscriptions', { json: { topic_name: topic.name } })).status).toBe(201);
  const { body: message } = await client.call('POST', `/${topic.name}`, { text: 'soon gone' });
  expect(Date.parse(message.expires_at) - Date.parse(message.timestamp)).toBe(lifetimeMs);
  expect(await shown()).toEqual([1, 1, 1, 1, 1, 1, 1]);
  await eventually(async () => expect(await shown()).toEqual([0, 0, 0, 0, 0, 0, 0]), patience);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(message.expires_at));
  expect((await client.call('GET', `/api/topics/${topic.name}/log`)).body.next_offset).toBe(0);
  const again = await client.call('POST', `/${topic.name}`, { text: 'later' });
  expect(again.body.offset).toBeGreaterThan(message.offset);
  const after = await client.call('GET', `/${topic.name}/json?since=${message.id}`);
  expect(after.body.messages.map((one: { message: string }) => one.message)).toEqual(['later']);
});

test('a stream that resumes after an expired message says that something may be lost', async () => {
  const client = new Client(undefined, running.urls);
  const topic = await createTopic(owner);
  const { body: message } = await client.call('POST', `/${topic.name}`, { text: 'soon gone' });
  const ready = async () => {
    const response = await fetch(`${running.urls[0]}/${topic.name}/sse?since_id=${message.id}`, { headers: { 'X-Forwarded-For': client.address } });
    const reader = response.body!.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    return JSON.parse(/^data: (.*)$/m.exec(first)![1]!);
  };
  expect((await ready()).recovered).toBe(true);
  await eventually(async () => expect((await ready()).recovered).toBe(false), patience);
});
