import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { StoredMessage } from '../../domain/messages/message.ts';
import { openArchiveDir, type ArchiveDir } from '../../testing/archive-dir.ts';
import { newId, newMessage } from '../../testing/builders.ts';
import { archiveManifest, type ArchiveManifest } from '../../wire/archive-manifest.ts';
import { archiveManifestKey } from './archive-keys.ts';
import { archiveMessages } from './archive-messages.ts';
import { readArchivedMessages } from './read-archive.ts';

let archive: ArchiveDir;
beforeEach(async () => {
  archive = await openArchiveDir();
});
afterEach(() => archive.close());

const topic = { id: newId(), name: 'deploys' };
const at = (offset: number, given: Partial<StoredMessage> = {}): StoredMessage => ({
  ...newMessage(topic.id, { timestamp: 1_000_000 + offset, message: `number ${offset}`, ...given }),
  offset,
});

async function* given(...messages: StoredMessage[]) {
  for (const message of messages) yield await Promise.resolve(message);
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function bytesOf(key: string): Promise<Buffer> {
  return Buffer.concat(await allOf((await archive.store.get(key))!));
}

const write = (messages: AsyncIterable<StoredMessage>, messagesMax?: number): Promise<ArchiveManifest[]> =>
  allOf(
    archiveMessages(
      archive.store,
      { topic, runId: 'run', now: 5_000, ...(messagesMax === undefined ? {} : { messagesMax }) },
      messages,
    ),
  );

test('an object and its manifest contain the messages of a topic', async () => {
  const [manifest] = await write(given(at(7, { timestamp: 2_000 }), at(9, { timestamp: 1_000 })));
  const object = `topics/${topic.id}/0000000000000007-run.ndjson.gz`;
  const bytes = await bytesOf(object);
  expect(manifest).toEqual({
    version: 1,
    topic_id: topic.id,
    topic: 'deploys',
    run_id: 'run',
    object,
    messages: 2,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    first_offset: 7,
    last_offset: 9,
    first_time: '1970-01-01T00:00:01.000Z',
    last_time: '1970-01-01T00:00:02.000Z',
    archived_at: '1970-01-01T00:00:05.000Z',
  });
  expect(archiveManifest.parse(JSON.parse(String(await bytesOf(archiveManifestKey(object)))))).toEqual(manifest);
  const lines = gunzipSync(bytes).toString().trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['number 7', 'number 9']);
});

test('every field of a message comes back', async () => {
  const messages = [
    at(1, {
      title: 'Über\u2028"quotes"\n',
      tags: ['a', 'b'],
      priority: 5,
      markdown: true,
      isEdited: true,
      editedAt: 2_000_000,
      click: 'https://example.org/',
      actions: [{ action: 'ack', label: 'Mine' }],
      isSilent: true,
      acknowledgement: { at: 3_000, by: { kind: 'system', name: 'resolved', accountId: null }, note: 'gone' },
      publishedBy: { kind: 'account', name: 'ada', accountId: newId() },
    }),
    at(2, { isDeleted: true, deletedAt: 4_000 }),
  ];
  const [manifest] = await write(given(...messages));
  const body = (await archive.store.get(manifest!.object))!;
  expect(await allOf(readArchivedMessages(body, manifest!.object))).toEqual(messages);
});

test('a long run has several objects, each confirmed before its manifest is returned', async () => {
  const messages = Array.from({ length: 5 }, (_, offset) => at(offset * 2));
  const confirmed = archiveMessages(
    archive.store,
    { topic, runId: 'run', now: 5_000, messagesMax: 2 },
    given(...messages),
  );
  expect((await confirmed.next()).value).toMatchObject({ messages: 2, first_offset: 0, last_offset: 2 });
  expect(await allOf(archive.store.list(''))).toHaveLength(2);
  expect((await allOf(confirmed)).map(({ first_offset, last_offset }) => [first_offset, last_offset])).toEqual([
    [4, 6],
    [8, 8],
  ]);
  expect(await write(given())).toEqual([]);
});

test('a failing source leaves no object, and a repeated run writes the same bytes', async () => {
  const failing = async function* () {
    yield at(1);
    await Promise.reject(new RangeError('of the source'));
  };
  await expect(write(failing())).rejects.toThrow(RangeError);
  expect(await allOf(archive.store.list(''))).toEqual([]);
  const messages = [at(1), at(2)];
  const [first] = await write(given(...messages));
  const [second] = await write(given(...messages));
  expect(second).toEqual(first);
});
