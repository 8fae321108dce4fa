import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { archiveMessages } from '@tocsin/shared/operations/archive/archive-messages.ts';
import { openArchiveDir, type ArchiveDir } from '@tocsin/shared/testing/archive-dir.ts';
import { newId, newMessage } from '@tocsin/shared/testing/builders.ts';
import type { ArchiveManifest } from '@tocsin/shared/wire/archive-manifest.ts';
import { runCommand } from '../support/run-command.ts';
import { createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
/** Each test starts several processes, which take many seconds each on a busy machine. */
const slow = 180_000;

let archive: ArchiveDir;
beforeAll(async () => {
  archive = await openArchiveDir();
});
afterAll(() => archive.close());

async function writeTo(topic: { readonly id: string; readonly name: string }): Promise<ArchiveManifest> {
  const messages = async function* () {
    for (const offset of [3, 8]) yield await Promise.resolve({ ...newMessage(topic.id), offset });
  };
  const written = archiveMessages(archive.store, { topic, runId: newId(), now: Date.now() }, messages());
  const { value } = await written.next();
  await written.return(undefined);
  return value!;
}

const run = (...args: string[]) =>
  runCommand(['archive', ...args], '', { ...testStack().env, ARCHIVE_URL: `file://${archive.dir}` });

test(
  'lists and verifies the objects of a topic by its name, and of a deleted topic by its ID',
  async () => {
    const topic = await createTopic(await stack.person());
    const written = await writeTo(topic);
    const ofDeleted = await writeTo({ id: newId(), name: 'deleted' });
    expect(JSON.parse((await run('list', '--topic', topic.name.toUpperCase(), '--json')).out)).toEqual([written]);
    const { code, out } = await run('list', '--topic', ofDeleted.topic_id);
    const { first_time, last_time, object } = ofDeleted;
    expect({ code, out }).toEqual({
      code: 0,
      out: `deleted  2 messages  ${first_time} to ${last_time}  ${object}\n`,
    });
    expect(await run('verify', '--topic', topic.name)).toEqual({
      code: 0,
      out: 'objects: 1\nmessages: 2\nfaults: 0\nunfinished: 0\n',
      error: '',
    });
    expect(await run('verify', '--topic', 'nobody-made-this')).toMatchObject({
      code: 1,
      error: 'Topic not found: name a topic, or the ID of a deleted one\n',
    });
  },
  slow,
);

test(
  'verify names a damaged object and exits with 1, and without ARCHIVE_URL with 2',
  async () => {
    const { object, topic_id } = await writeTo({ id: newId(), name: 'deleted' });
    writeFileSync(join(archive.dir, object), 'damaged');
    const fault = 'is damaged: not gzipped lines of messages';
    expect(await run('verify', '--topic', topic_id)).toEqual({
      code: 1,
      out: 'objects: 0\nmessages: 0\nfaults: 1\nunfinished: 0\n',
      error: `${object} ${fault}\n`,
    });
    const { code, out } = await run('verify', '--topic', topic_id, '--json');
    expect([code, JSON.parse(out)]).toEqual([
      1,
      { objects: 0, messages: 0, faults: [{ key: object, fault }], unfinished: [] },
    ]);
    const unset = await runCommand(['archive', 'verify'], '', { ...testStack().env, ARCHIVE_URL: '' });
    expect(unset).toMatchObject({ code: 2, error: expect.stringContaining('ARCHIVE_URL missing') });
  },
  slow,
);
