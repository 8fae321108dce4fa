import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openArchiveDir, type ArchiveDir } from '../../testing/archive-dir.ts';
import { newId, newMessage } from '../../testing/builders.ts';
import type { ArchiveManifest } from '../../wire/archive-manifest.ts';
import { archiveManifestKey } from './archive-keys.ts';
import { archiveMessages } from './archive-messages.ts';
import { verifyArchive } from './verify-archive.ts';

let archive: ArchiveDir;
beforeEach(async () => {
  archive = await openArchiveDir();
});
afterEach(() => archive.close());

/** Archives two objects of two messages. */
async function arrange(topicId = newId()): Promise<[ArchiveManifest, ArchiveManifest]> {
  const messages = async function* () {
    for (let offset = 0; offset < 4; offset++) yield await Promise.resolve({ ...newMessage(topicId), offset });
  };
  const written: ArchiveManifest[] = [];
  const of = { topic: { id: topicId, name: 'deploys' }, runId: newId(), now: Date.now(), messagesMax: 2 };
  for await (const manifest of archiveMessages(archive.store, of, messages())) written.push(manifest);
  return written as [ArchiveManifest, ArchiveManifest];
}

const verify = (topicId: string | null = null) => verifyArchive(archive.store, topicId, () => undefined);
const pathOf = (key: string) => join(archive.dir, key);
const faultOf = (key: string, fault: string) => ({ objects: 1, messages: 2, faults: [{ key, fault }], unfinished: [] });

test('counts intact objects of all topics, or of one', async () => {
  const [{ topic_id }] = await arrange();
  await arrange();
  expect(await verify()).toEqual({ objects: 4, messages: 8, faults: [], unfinished: [] });
  expect(await verify(topic_id)).toEqual({ objects: 2, messages: 4, faults: [], unfinished: [] });
  expect(await verify(newId())).toEqual({ objects: 0, messages: 0, faults: [], unfinished: [] });
});

test('names an object that is missing, damaged or truncated', async () => {
  const [, { object }] = await arrange();
  const bytes = readFileSync(pathOf(object));
  writeFileSync(pathOf(object), bytes.subarray(0, -20));
  expect(await verify()).toEqual(faultOf(object, 'is damaged: not gzipped lines of messages'));
  // The time in the header of gzip, which decompression ignores.
  writeFileSync(pathOf(object), Buffer.concat([bytes.subarray(0, 4), Buffer.from([1]), bytes.subarray(5)]));
  expect(await verify()).toEqual(faultOf(object, 'is damaged: its SHA-256 is not that of the manifest'));
  writeFileSync(pathOf(object), gzipSync('{}\n'));
  expect(await verify()).toEqual(faultOf(object, 'is damaged: not gzipped lines of messages'));
  rmSync(pathOf(object));
  expect(await verify()).toEqual(faultOf(object, 'is missing'));
});

test('names a manifest that is damaged, of another object, or wrong', async () => {
  const [first, { object }] = await arrange();
  const key = archiveManifestKey(object);
  for (const text of ['{', '{}', JSON.stringify(first)]) {
    writeFileSync(pathOf(key), text);
    expect(await verify()).toEqual(faultOf(key, 'is not a manifest'));
  }
});

test('compares counts, offsets and topics with the manifest', async () => {
  const [, manifest] = await arrange();
  const { object } = manifest;
  const change = (fields: Partial<ArchiveManifest>) =>
    writeFileSync(pathOf(archiveManifestKey(object)), JSON.stringify({ ...manifest, ...fields }));
  change({ messages: 3 });
  expect(await verify()).toEqual(faultOf(object, 'contains 2 messages instead of 3'));
  change({ last_offset: 9 });
  expect(await verify()).toEqual(faultOf(object, 'contains other offsets than its manifest'));
  change({ topic_id: newId() });
  expect((await verify()).faults).toMatchObject([
    { fault: `contains a message of another topic, ${manifest.topic_id}` },
  ]);
});

test('an object without a manifest is unfinished, which is no fault', async () => {
  const [, { object }] = await arrange();
  rmSync(pathOf(archiveManifestKey(object)));
  expect(await verify()).toEqual({ objects: 1, messages: 2, faults: [], unfinished: [object] });
});
