import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PlacedRecord } from '../../domain/messages/log-record.ts';
import { redacted } from '../../domain/messages/message.ts';
import { MessagesModel } from './messages-model.ts';
import { killAfterLines } from '../../testing/write-until-killed.ts';
import { agreesWithModel } from './messages-model.contract.ts';
import { describeMessageReads } from './messages-reads.contract.ts';
import { describeMessageRemoval } from './messages-removal.contract.ts';
import { describeMessageSearch } from './messages-search.contract.ts';
import { describeReconcile } from './messages-reconcile.contract.ts';
import {
  acknowledged,
  day,
  deleted,
  edited,
  fullExtras,
  newId,
  published,
  testMessage,
  testTime,
  type MessagesFixture,
  type MessagesPlace,
} from './messages.fixtures.ts';
import type { Messages } from '../../ports/messages/messages.ts';

/** The contract of the messages port, which every driver runs on its real engine. */
export function messagesContract(name: string, newPlace: () => Promise<MessagesPlace>): void {
  describe(`${name} keeps messages`, () => {
    let place: MessagesPlace;
    let nodes: Messages[];
    let offset = 0;
    beforeAll(async () => {
      place = await newPlace();
      nodes = [];
      for (let node = 0; node < 4; node++) nodes.push(await place.open(() => testTime));
    });
    afterAll(() => place.close());

    const fixture: MessagesFixture = {
      messages: () => nodes[0]!,
      nodes: () => nodes,
      freeOffset: () => (offset += 1_000),
      newPlace,
    };
    describeApplying(fixture);
    describeRaces(fixture);
    describeMessageReads(fixture);
    describeReconcile(fixture);
    describeMessageSearch(fixture);
    describeMessageRemoval(fixture);
    describeDurability(fixture);

    test('any records in any order, some repeated, match the model', async () => {
      await agreesWithModel(nodes, 1_000_000);
    }, 300_000);
  });
}

function describeApplying({ messages, freeOffset }: MessagesFixture): void {
  test('finds an applied message unchanged with its offset', async () => {
    const offset = freeOffset();
    const full = testMessage(newId(), {
      message: `${'😀'.repeat(3_990)}\u0000\r\n\ufeff é e\u0301`,
      title: '💾\u0000 ümlaut',
      tags: Array.from({ length: 20 }, (_, index) => `tag "${index}" 🏷`),
      priority: 5,
      markdown: true,
      ...fullExtras,
    });
    const plain = testMessage(full.topicId);
    await messages().apply([published(offset, full), published(offset + 1, plain)]);
    expect(await messages().find(full.id)).toEqual({ ...full, offset });
    expect(await messages().find(plain.id)).toEqual({ ...plain, offset: offset + 1 });
    expect(await messages().find(newId())).toBeNull();
  });

  test('applies an empty batch', async () => {
    await messages().apply([]);
    expect(await messages().reconcile(0, [])).toEqual([]);
  });

  test('ignores a duplicate at a higher offset; one at a lower offset replaces the message', async () => {
    const offset = freeOffset();
    const message = testMessage(newId());
    const shown = async () =>
      (await messages().records(message.topicId, { from: 0, upTo: offset + 9, limit: 10, now: testTime })).map(
        (one) => one.offset,
      );
    await messages().apply([published(offset + 5, message)]);
    await messages().apply([published(offset + 7, message)]);
    expect(await shown()).toEqual([offset + 5]);
    await messages().apply([published(offset + 3, message)]);
    expect(await shown()).toEqual([offset + 3]);
    expect(await messages().find(message.id)).toEqual({ ...message, offset: offset + 3 });
    expect((await messages().topicStats([message.topicId])).get(message.topicId)?.messageCount).toBe(1);
  });

  test('of two records of one message with other content, the one at the lower offset wins in any order', async () => {
    for (const isReversed of [false, true]) {
      const offset = freeOffset();
      const first = testMessage(newId(), { message: 'first', title: 'Title', tags: ['a'] });
      const second = {
        ...first,
        message: 'second',
        title: null,
        tags: [],
        timestamp: first.timestamp + 20_000,
        expiresAt: first.expiresAt + 20_000,
      };
      const records = [published(offset, first), published(offset + 5, second)];
      for (const one of isReversed ? records.toReversed() : records) await messages().apply([one]);
      expect(await messages().find(first.id)).toEqual({ ...first, offset });
      const edit = edited(offset + 7, second, { message: 'edited' });
      const third = { ...first, id: newId() };
      await messages().apply([edit]);
      expect(await messages().find(first.id)).toMatchObject({ message: 'edited', timestamp: first.timestamp, offset });
      // The same in one batch, after an edit.
      await messages().apply([
        edited(offset + 19, { ...second, id: third.id }, { message: 'edited' }),
        published(offset + 15, { ...second, id: third.id }),
        published(offset + 10, third),
      ]);
      expect(await messages().find(third.id)).toMatchObject({
        message: 'edited',
        timestamp: third.timestamp,
        expiresAt: third.expiresAt,
        offset: offset + 10,
      });
    }
  });

  test('applies an edit immediately and ignores an older one', async () => {
    const offset = freeOffset();
    const message = testMessage(newId(), { tags: ['a'], title: 'Title' });
    const newer = edited(offset + 2, message, { message: 'second', title: null, tags: [], editedAt: testTime + 2 });
    await messages().apply([published(offset, message)]);
    await messages().apply([newer]);
    await messages().apply([edited(offset + 1, message, { message: 'first', editedAt: testTime + 1 })]);
    expect(await messages().find(message.id)).toEqual({ ...newer.record.message, offset });
  });

  test('an acknowledgement is a record of its own, and its message stays in history', async () => {
    const offset = freeOffset();
    const message = testMessage(newId(), { ...fullExtras, acknowledgement: null });
    const taken = acknowledged(offset + 1, message);
    await messages().apply([published(offset, message)]);
    await messages().apply([taken]);
    const shown = { ...taken.record.message, offset };
    expect(await messages().find(message.id)).toEqual(shown);
    expect(await messages().newest(message.topicId, { limit: 10, now: testTime })).toEqual([shown]);
    const records = await messages().records(message.topicId, { from: 0, upTo: offset + 9, limit: 10, now: testTime });
    expect(records.map(({ type, message: { acknowledgement } }) => [type, acknowledgement])).toEqual([
      ['message', shown.acknowledgement],
      ['message_acknowledged', shown.acknowledgement],
    ]);
  });

  test('an edit without its message is invisible until the message arrives', async () => {
    const offset = freeOffset();
    const message = testMessage(newId());
    const edit = edited(offset + 1, message, { message: 'edited' });
    await messages().apply([edit]);
    expect(await messages().find(message.id)).toBeNull();
    expect(await messages().newest(message.topicId, { limit: 10, now: testTime })).toEqual([]);
    expect(await messages().records(message.topicId, { from: 0, upTo: offset + 9, limit: 10, now: testTime })).toEqual(
      [],
    );
    expect((await messages().topicStats([message.topicId])).get(message.topicId)).toEqual({
      messageCount: 0,
      lastMessageAt: null,
    });
    await messages().apply([published(offset, message)]);
    expect(await messages().newest(message.topicId, { limit: 10, now: testTime })).toEqual([
      { ...edit.record.message, offset },
    ]);
  });

  test('a deletion removes the message from history, redacts its records, and keeps its text in the store', async () => {
    const offset = freeOffset();
    const [kept, gone] = [testMessage(newId()), testMessage(newId(), { title: 'Title', tags: ['a'] })];
    const deletedAt = testTime + 5;
    await messages().apply([
      published(offset, gone),
      published(offset + 1, kept),
      deleted(offset + 2, gone, deletedAt),
    ]);
    expect(await messages().newest(gone.topicId, { limit: 10, now: testTime })).toEqual([]);
    expect(await messages().after(gone.topicId, { after: -1, upTo: offset + 9, limit: 10, now: testTime })).toEqual([]);
    const shown = redacted({ ...gone, offset }, deletedAt);
    expect(await messages().records(gone.topicId, { from: 0, upTo: offset + 9, limit: 10, now: testTime })).toEqual([
      { offset, type: 'message', timestamp: testTime, message: shown },
      { offset: offset + 2, type: 'message_deleted', timestamp: deletedAt, message: shown },
    ]);
    expect(await messages().find(gone.id)).toEqual({ ...gone, offset, isDeleted: true, deletedAt });
  });

  test('a deletion without its message deletes it when it arrives, and keeps its text', async () => {
    const offset = freeOffset();
    const message = testMessage(newId());
    await messages().apply([deleted(offset + 1, message, testTime + 5)]);
    await messages().apply([published(offset, message)]);
    expect(await messages().newest(message.topicId, { limit: 10, now: testTime })).toEqual([]);
    expect(await messages().find(message.id)).toEqual({ ...message, offset, isDeleted: true, deletedAt: testTime + 5 });
    expect((await messages().topicStats([message.topicId])).get(message.topicId)?.messageCount).toBe(0);
  });

  test('a deletion is final: a concurrent edit does not restore the message', async () => {
    const offset = freeOffset();
    const message = testMessage(newId());
    await messages().apply([
      published(offset, message),
      deleted(offset + 1, message),
      edited(offset + 2, message, { message: 'late' }),
    ]);
    expect(await messages().newest(message.topicId, { limit: 10, now: testTime })).toEqual([]);
    expect((await messages().find(message.id))?.isDeleted).toBe(true);
  });

  test('a record of an expired message only updates the topic’s last offset and time', async () => {
    const offset = freeOffset();
    const late = testMessage(newId(), { timestamp: testTime - 8 * day, expiresAt: testTime });
    await messages().apply([
      published(offset, late),
      edited(offset + 1, late, { message: 'edited' }),
      deleted(offset + 2, late),
    ]);
    expect(await messages().find(late.id)).toBeNull();
    expect((await messages().lastOffsets([late.topicId])).get(late.topicId)).toBe(offset + 2);
    expect((await messages().topicStats([late.topicId])).get(late.topicId)).toEqual({
      messageCount: 0,
      lastMessageAt: late.timestamp,
    });
  });
}

function describeRaces({ messages, nodes, freeOffset }: MessagesFixture): void {
  test('stores and counts records once if they are applied concurrently', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const records = Array.from({ length: 40 }, (_, index) => published(offset + index, testMessage(topicId)));
    const deletions = records.slice(0, 10).map(({ record }, index) => deleted(offset + 100 + index, record.message));
    await Promise.all(
      Array.from({ length: 8 }, (_, turn) => {
        const all = [...records, ...deletions];
        return nodes()[turn % nodes().length]!.apply(turn % 3 ? all : all.reverse());
      }),
    );
    expect((await messages().topicStats([topicId])).get(topicId)?.messageCount).toBe(30);
    const history = await messages().newest(topicId, { limit: 100, now: testTime });
    expect(history.map((one) => one.offset)).toEqual(records.slice(10).map((one) => one.offset));
  });

  test('concurrent duplicates, edits and deletions of a message match the rules', async () => {
    const topicId = newId();
    const records = Array.from({ length: 25 }, () => {
      const offset = freeOffset();
      const message = testMessage(topicId);
      const edits = [3, 4, 5].map((place) => edited(offset + place, message, { message: `edit ${place}` }));
      const copies = [1, 2].map((place) => published(offset + place, message));
      return [
        ...edits.toReversed(),
        ...copies.toReversed(),
        deleted(offset + 7, message, testTime + 7),
        deleted(offset + 6, message, testTime + 6),
      ];
    });
    await Promise.all(records.flat().map((record, index) => nodes()[index % nodes().length]!.apply([record])));
    const model = new MessagesModel(records.flat());
    for (const [{ record }] of records as [PlacedRecord][])
      expect(await messages().find(record.message.id)).toEqual(model.find(record.message.id));
    expect((await messages().topicStats([topicId])).get(topicId)).toEqual(model.stats(topicId));
  });
}

function describeDurability({ newPlace }: MessagesFixture): void {
  test('applied records survive SIGKILL and are counted', async () => {
    const place = await newPlace();
    try {
      const lines = await killAfterLines(
        `${place.childCode}
        const { applyForever } = await import(${JSON.stringify(new URL('../../testing/apply-forever.ts', import.meta.url).href)});
        await applyForever(messages);`,
        300,
      );
      const messages = await place.open();
      const topicId = lines[0]!;
      const applied = lines
        .slice(1)
        .map(Number)
        .sort((a, b) => a - b);
      const found = new Set<number>();
      for (let from = 0; ;) {
        const page = await messages.records(topicId, { from, upTo: Number.MAX_SAFE_INTEGER, limit: 1_000, now: 0 });
        if (page.length === 0) break;
        for (const { offset } of page) found.add(offset);
        from = page.at(-1)!.offset + 1;
      }
      expect(applied.length).toBeGreaterThan(250);
      expect(applied.filter((offset) => !found.has(offset))).toEqual([]);
      expect((await messages.topicStats([topicId])).get(topicId)?.messageCount).toBe(found.size);
    } finally {
      await place.close();
    }
  });
}
