import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { archiveMessages } from '@tocsin/shared/operations/archive/archive-messages.ts';
import { openArchiveDir, type ArchiveDir } from '@tocsin/shared/testing/archive-dir.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { runCommand } from '../support/run-command.ts';
import { createAccount, createTopic, type Account } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

/** Long enough to publish and archive before the expiry, also on a busy machine. */
const lifetimeMs = 12_000;
const patience = { intervalMs: 250, timeoutMs: 10 * lifetimeMs };
const slow = 300_000;
const dayMs = 86_400_000;

const { stack, store } = await useOwnStack({
  RETENTION_DAYS_ESSENTIALS: String(lifetimeMs / dayMs),
  RETENTION_SCHEDULE: '1s',
  TRUST_PROXY: '1',
});

let archive: ArchiveDir;
let owner: Account;
/** For one test each; they expire concurrently. */
let whole: Removed;
let single: Removed;
let partial: Removed;
let nameless: Removed;
beforeAll(async () => {
  archive = await openArchiveDir();
  owner = await createAccount(store, { urls: stack.urls, tier: 'ESSENTIALS' });
  const deleted = { kind: 'account', name: 'deleted', accountId: newId() } as const;
  const acknowledgement = { at: Date.now(), by: deleted, note: 'mine' };
  [whole, single, partial, nameless] = await Promise.all([
    removedMessages(['first', 'second']),
    removedMessages(['only']),
    removedMessages(['before', 'within']),
    removedMessages(['of a deleted account'], { publishedBy: deleted, acknowledgement }),
  ]);
}, slow);
afterAll(() => archive.close());

const run = async (...args: string[]) => {
  const env = { ...stack.env, ARCHIVE_URL: `file://${archive.dir}` };
  const { code, out, error } = await runCommand(['archive', ...args, '--json'], '', env);
  if (code !== 0) throw new Error(error);
  return JSON.parse(out) as unknown;
};

const call = async (method: string, path: string, json?: object) =>
  owner.client.call(method, path, json === undefined ? {} : { json });

type Removed = Awaited<ReturnType<typeof removedMessages>>;

/** Publishes messages, archives them as retention does, and resolves when retention has removed them. */
async function removedMessages(texts: readonly string[], archived: Partial<StoredMessage> = {}) {
  const topic = await createTopic(owner);
  const published = [];
  for (const text of texts)
    published.push((await owner.client.call('POST', `/${topic.name}`, { text, headers: { Title: 'Über' } })).body);
  const messages = await store.openMessages();
  const ids = published.map(({ id }: { id: string }) => id);
  const found = (await messages.findMany(ids)).sort((a, b) => a.offset - b.offset);
  expect(found).toHaveLength(texts.length);
  const given = async function* () {
    for (const message of found) yield await Promise.resolve({ ...message, ...archived });
  };
  const written = archiveMessages(archive.store, { topic, runId: newId(), now: Date.now() }, given());
  for await (const manifest of written) expect(manifest.messages).toBe(texts.length);
  await eventually(async () => expect(await messages.findMany(ids)).toEqual([]), patience);
  return { topic, published };
}

const historyOf = async (topic: { name: string }) => (await call('GET', `/${topic.name}/json?since=all`)).body.messages;

test(
  'restored messages are history again with their IDs, offsets and times, for a number of days',
  async () => {
    const { topic, published } = whole;
    expect(await historyOf(topic)).toEqual([]);
    const before = Date.now();
    expect(await run('restore', '--topic', topic.name, '--days', '3')).toEqual({
      restored: 2,
      present: 0,
      faults: [],
    });
    const history = await historyOf(topic);
    const expiries = history.map((message: { expires_at: string }) => Date.parse(message.expires_at));
    for (const expiry of expiries) {
      expect(expiry).toBeGreaterThanOrEqual(before + 3 * dayMs);
      expect(expiry).toBeLessThanOrEqual(Date.now() + 3 * dayMs);
    }
    const apart = (messages: object[]) => messages.map((message) => ({ ...message, expires_at: null }));
    expect(apart(history)).toEqual(apart(published));
    const { body: found } = await call('GET', `/api/messages/search?topic=${topic.name}&q=second`);
    expect(found.total).toBe(1);
    expect((await call('GET', `/api/topics/${topic.name}`)).body.message_count).toBe(2);

    expect(await run('restore', '--topic', topic.id, '--days', '9')).toEqual({ restored: 0, present: 2, faults: [] });
    expect(await historyOf(topic)).toEqual(history);
  },
  slow,
);

test(
  'restored messages are read-only and are not appended to the log',
  async () => {
    const { topic, published } = single;
    const { id, offset } = published[0]!;
    const { body: marker } = await owner.client.call('POST', `/${topic.name}`, {
      text: 'published before the restore',
    });
    await run('restore', '--topic', topic.name, '--days', '1');
    const refused = { status: 409, body: { detail: 'Message was restored from the archive and is read-only' } };
    expect(await call('PATCH', `/api/${topic.name}/messages/${id}`, { message: 'changed' })).toMatchObject(refused);
    expect(await call('DELETE', `/api/${topic.name}/messages/${id}`)).toMatchObject(refused);
    expect(await call('POST', `/api/messages/${id}/ack`, {})).toMatchObject(refused);
    expect(await call('POST', `/api/messages/${id}/renotify`)).toMatchObject(refused);
    const { body: log } = await call('GET', `/api/topics/${topic.name}/log?from_offset=${Number(offset) + 1}`);
    expect(log.records.filter((record: { message: { id: string } }) => record.message.id === id)).toEqual([]);
    expect(log.next_offset).toBeLessThanOrEqual(Number(marker.offset) + 1);
  },
  slow,
);

test(
  'restores only the messages of a period',
  async () => {
    const { topic, published } = partial;
    const [, within] = published;
    const at = within.timestamp as string;
    await run('restore', '--topic', topic.name, '--days', '1', '--from', at, '--to', at);
    const texts = (await historyOf(topic)).map(({ message }: { message: string }) => message);
    expect(texts).toContain('within');
    if (published[0].timestamp !== at) expect(texts).toEqual(['within']);
  },
  slow,
);

test(
  'restored messages do not name accounts that were deleted since',
  async () => {
    const { topic } = nameless;
    await run('restore', '--topic', topic.name, '--days', '1');
    const account = { kind: 'account', name: null };
    expect(await historyOf(topic)).toMatchObject([{ published_by: account, acknowledged_by: account }]);
  },
  slow,
);
