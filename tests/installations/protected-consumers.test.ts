import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { retentionRuns } from '@tocsin/shared/collections/retention-runs.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { runCommand } from '../support/run-command.ts';
import { Client, createAccount, createTopic, type Account } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

/** Long enough to publish and to place the consumers, also on a busy machine. */
const lifetimeMs = 12_000;
const patience = { intervalMs: 250, timeoutMs: 5 * lifetimeMs };

// Runs are requested by the tests.
const { stack, store } = await useOwnStack({
  RETENTION_DAYS_FREE: String(lifetimeMs / 86_400_000),
  RETENTION_SCHEDULE: '0 0 1 1 *',
  TRUST_PROXY: '1',
  ADMIN_TOKEN: 'the-operator-of-the-tests',
});
const operator = new Client('the-operator-of-the-tests', stack.urls);

let owner: Account;
let other: Account;
let topic: { id: string; name: string };
let ids: string[];
let offsets: number[];

const consumer = (name: string) => `/api/topics/${topic.name}/consumers/${name}`;
const place = async (account: Account, name: string, offset: number) =>
  expect((await account.client.call('PUT', consumer(name), { json: { offset } })).status).toBe(200);
const read = async (account: Account, query: string) =>
  (await account.client.call('GET', `/api/topics/${topic.name}/log${query}`)).body;
const texts = ({ records }: { records: { message: { message: string } }[] }) =>
  records.map(({ message }) => message.message);

/** Runs retention up to now and resolves with the report. */
async function runRetention(protects: boolean) {
  const upTo = new Date().toISOString();
  const options = protects ? ['--protect-consumers'] : [];
  const { out, error } = await runCommand(['retention', 'run', '--up-to', upTo, ...options, '--json'], '', stack.env);
  expect(error).toBe('');
  return eventually(async () => {
    const runs = (await operator.call('GET', '/admin/retention/history')).body;
    const run = runs.find(({ id }: { id: string }) => id === JSON.parse(out).run_id);
    expect(run?.outcome).toBe('done');
    return run;
  }, patience);
}

beforeAll(async () => {
  [owner, other] = [await createAccount(store, { urls: stack.urls }), await createAccount(store, { urls: stack.urls })];
  topic = await createTopic(owner);
  const published: { id: string; offset: number }[] = [];
  for (const text of ['one', 'two', 'three'])
    published.push((await owner.client.call('POST', `/${topic.name}`, { text })).body);
  ids = published.map(({ id }) => id);
  offsets = published.map(({ offset }) => offset);
  await place(owner, 'behind', offsets[1]!);
  await place(other, 'ahead', offsets[2]! + 1);
  await eventually(async () => expect((await read(owner, '')).records).toEqual([]), patience);
}, 10 * lifetimeMs);

test('a consumer that is behind alone gets its expired records, until it has read them', async () => {
  const [, second, third] = offsets as [number, number, number];
  const lost = { records: [], earliest_offset: third + 1, gap: { from_offset: second, to_offset: third + 1 } };
  expect(await read(owner, '?consumer=behind')).toMatchObject(lost);
  expect((await owner.client.call('GET', consumer('behind'))).body).toMatchObject({ lag: 0, lost: 2 });

  const plan = () => runCommand(['retention', 'plan'], '', stack.env);
  expect((await plan()).out).toContain(`\nconsumer behind of topic ${topic.name}: 2 unread records\n`);
  const first = await runRetention(true);
  expect(first.removed.messages).toBe(0);
  expect((await plan()).out).toMatch(/^messages: 0\n(?:.*\n)*consumers_protected_until: 2\d{3}-/m);

  const page = await read(owner, '?consumer=behind');
  expect(texts(page)).toEqual(['two', 'three']);
  expect(page).toMatchObject({ next_offset: third + 1, earliest_offset: second, head: third + 1, gap: null });
  expect((await owner.client.call('GET', consumer('behind'))).body).toMatchObject({ lag: 2, lost: 0 });
  const lines = await fetch(`${stack.urls[0]}/api/topics/${topic.name}/log?consumer=behind`, {
    headers: { Authorization: `Bearer ${owner.client.token}`, Accept: 'application/x-ndjson' },
  });
  const types = (await lines.text()).trim().split('\n');
  expect(types.map((line) => JSON.parse(line).offset)).toEqual([second, third]);

  // All other readers, and the owner without this position, get what they got before.
  expect(await read(owner, `?from_offset=${second}`)).toMatchObject(lost);
  expect(await read(owner, '?from_time=2020-01-01T00:00:00Z')).toMatchObject({ records: [] });
  const since = await owner.client.call('GET', `/${topic.name}/json?since=${ids[0]}`);
  expect(since.body).toMatchObject({ messages: [], recovered: false });
  expect((await owner.client.call('GET', `/api/messages/search?topic=${topic.name}`)).body.total).toBe(0);
  await place(other, 'new', second);
  await place(other, 'ahead', second);
  for (const name of ['new', 'ahead']) {
    expect(await read(other, `?consumer=${name}`)).toMatchObject(lost);
    expect((await other.client.call('GET', consumer(name))).body).toMatchObject({ lag: 0, lost: 0 });
  }

  // A later run without the option keeps them, too.
  expect((await runRetention(false)).removed.messages).toBe(0);
  await place(owner, 'behind', third);
  expect(texts(await read(owner, '?consumer=behind'))).toEqual(['three']);
  await place(owner, 'behind', third + 1);
  expect(await runRetention(false)).toMatchObject({ removed: { messages: 3 }, consumers_behind: [] });
  expect(await read(owner, '?consumer=behind')).toMatchObject({ records: [], gap: null });
});

test('the history of the command names consumers that lost unread records', async () => {
  const volume = { messages: 3, bytes: 9 };
  const lost = { topicId: topic.id, topic: topic.name, consumer: 'behind', unread: 2 };
  await store.documents.insert(retentionRuns, {
    ...{ id: randomUUID(), startedBy: 'schedule', startedAt: Date.now(), endedAt: Date.now(), upTo: Date.now() },
    ...{
      planned: volume,
      ...volume,
      tiers: [],
      topics: [],
      archived: null,
      outcome: 'done',
      interruptions: 0,
      leasedUntil: 0,
    },
    consumersBehind: [lost],
  });
  const { out } = await runCommand(['retention', 'history'], '', stack.env);
  expect(out.split('\n')).toContain(`  consumer behind of topic ${topic.name}: 2 unread records`);
});
