import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { readArchivedMessages } from '@tocsin/shared/operations/archive/read-archive.ts';
import { archiveManifest } from '@tocsin/shared/wire/archive-manifest.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { openArchiveDir, type ArchiveDir } from '@tocsin/shared/testing/archive-dir.ts';
import { newId, newTopic } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { newTestPlace, type TestPlace } from '@tocsin/shared/testing/test-engine.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import {
  engineOf,
  hourMs,
  kill9,
  openCount,
  pageSize,
  startRetention,
  storeMessages,
  withEngine,
} from './retention-process.ts';

const expiredCount = Number(process.env['TOCSIN_ARCHIVED'] ?? 4_000);
const kills = Number(process.env['TOCSIN_ARCHIVE_KILLS'] ?? 2);
const topicCount = 2;
const keptCount = 200;
/** The leases of a dead worker's run and job; MongoDB may keep its transaction open for more than a minute. */
const patienceMs = 120_000 + expiredCount;

describe('killing retention while it archives, embedded', () => killTests(undefined));
describeWithEngines('killing retention while it archives, on a cluster', (engines) => killTests(engines));

/** The checksum of a message's content; messages differ in it. */
const checksumOf = ({ id, message, title, tags }: StoredMessage): string =>
  createHash('sha256')
    .update(JSON.stringify([id, message, title, tags]))
    .digest('base64');

function killTests(engines: TestEngines | undefined): void {
  let own: Closers;
  let place: TestPlace;
  let archive: ArchiveDir;
  /** The checksums of the expired messages by offset. */
  let expired: Map<number, string>;

  beforeEach(async () => {
    own = closers();
    place = newTestPlace(engines);
    own.add(() => place.remove());
    archive = await openArchiveDir();
    own.add(() => archive.close());
    expired = new Map();
  });
  afterEach(() => own.closeAll());

  const start = () => startRetention(own, { ...place.env, ARCHIVE_URL: pathToFileURL(archive.dir).href });

  // Three hours ago no message had expired: expired messages are no longer stored.
  const fill = () =>
    withEngine(
      place,
      () => Date.now() - 3 * hourMs,
      async (engine) => {
        const made: Topic[] = [];
        for (let index = 0; index < topicCount; index += 1) {
          const topic = await engine.documents.insert(topics, newTopic(newId()));
          made.push(topic);
          const count = expiredCount / topicCount;
          const from = index * (count + keptCount);
          const given = (offset: number) => {
            const fields = { id: newId(), message: `text of ${offset}`, title: 'Über', tags: ['a'] };
            if (offset < from + count) expired.set(offset, checksumOf(fields as unknown as StoredMessage));
            return fields;
          };
          await storeMessages(engine, topic, { from, count, expiresAt: Date.now() - hourMs, given });
          await storeMessages(engine, topic, { from: from + count, count: keptCount, expiresAt: Date.now() + hourMs });
        }
        return made;
      },
    );

  /** The offsets of expired messages that are still stored. */
  const storedOffsets = (made: readonly Topic[]): Promise<Set<number>> =>
    withEngine(place, Date.now, async ({ messages }) => {
      const offsets = new Set<number>();
      for (const { id } of made)
        for (let after = -1; ;) {
          const page = await messages.expiredOf(id, { after, time: Date.now(), limit: pageSize });
          for (const { message } of page) offsets.add(message.offset);
          if (page.length < pageSize) break;
          after = page.at(-1)!.message.offset;
        }
      return offsets;
    });

  /** Reads all objects with a manifest, checks them, and returns the checksums of their messages by offset. */
  async function readArchive() {
    const found = new Map<number, string>();
    let lines = 0;
    let objects = 0;
    for await (const key of archive.store.list('topics/')) {
      if (!key.endsWith('.json')) continue;
      const { object, messages, sha256 } = archiveManifest.parse(JSON.parse(await textOf(key)));
      const hash = createHash('sha256');
      const body = async function* () {
        for await (const chunk of (await archive.store.get(object))!) {
          hash.update(chunk);
          yield chunk;
        }
      };
      let count = 0;
      for await (const message of readArchivedMessages(body(), object)) {
        count += 1;
        const before = found.get(message.offset);
        found.set(message.offset, checksumOf(message));
        if (before !== undefined) expect(found.get(message.offset)).toBe(before);
      }
      expect({ object, messages: count, sha256: hash.digest('hex') }).toEqual({ object, messages, sha256 });
      objects += 1;
      lines += count;
    }
    return { found, lines, objects };
  }
  async function textOf(key: string): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await archive.store.get(key))!) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  /** Every expired message that is not stored any more is in the archive with its content. */
  async function expectArchived(made: readonly Topic[]) {
    const stored = await storedOffsets(made);
    const read = await readArchive();
    const removed = new Map([...expired].filter(([offset]) => !stored.has(offset)));
    const missing = [...removed].filter(([offset, checksum]) => read.found.get(offset) !== checksum);
    expect(missing).toEqual([]);
    return { ...read, removed };
  }

  const filesInArchive = async (): Promise<number> =>
    (await readdir(archive.dir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length;

  test(
    `archives and removes the same ${expiredCount} messages over ${kills} kills`,
    async () => {
      const made = await fill();
      const left = topicCount * keptCount;
      const stored = await openCount(place);
      own.add(() => stored.close());
      const killedAt: string[] = [];
      for (let kill = 1; kill <= kills; kill += 1) {
        const files = await filesInArchive();
        const child = start();
        // In turn while an object is written, and while its messages are removed.
        const target = left + expiredCount * (1 - kill / (kills + 1));
        const isAtKill =
          kill % 2 === 1
            ? async () => expect(await filesInArchive()).toBeGreaterThan(files)
            : async () => expect(await stored.count()).toBeLessThanOrEqual(target);
        await eventually(isAtKill, { timeoutMs: patienceMs, intervalMs: 1 });
        await kill9(child);
        const { removed } = await expectArchived(made);
        killedAt.push(`${removed.size} removed, ${await filesInArchive()} files`);
      }
      const child = start();
      await eventually(async () => expect(await stored.committedCount()).toBeLessThanOrEqual(left), {
        timeoutMs: patienceMs,
        intervalMs: 100,
      });
      await kill9(child);
      const { found, removed, lines, objects } = await expectArchived(made);
      expect(removed).toEqual(expired);
      expect(found).toEqual(expired);
      expect(await stored.committedCount()).toBe(left);
      printMeasurements('retention killed while it archives', {
        engine: engineOf(engines),
        messages: expiredCount,
        kills,
        killedAt,
        objects,
        archivedTwice: lines - expiredCount,
        removedUnarchived: 0,
      });
    },
    (kills + 2) * 2 * patienceMs,
  );
}
