import { expect, test } from '@jest/globals';
import {
  accountWasDeleted,
  endOf,
  topicWasDeleted,
  type ScheduledMessage,
} from '../../domain/messages/scheduled-message.ts';
import type { New } from '../../ports/documents.ts';
import { newId, newScheduledMessage, newTopic } from '../../testing/builders.ts';
import { useTestEngine } from '../../testing/use-test-engine.ts';
import { scheduledMessages } from '../../collections/messages/scheduled-messages.ts';
import { dropScheduledOfTopic, eraseScheduledOf } from './erase-scheduled.ts';

const engine = await useTestEngine();

const now = Date.now();
const insert = (document: New<ScheduledMessage>) => engine.documents.insert(scheduledMessages, document);
const find = (id: string) => engine.documents.get(scheduledMessages, id);

/** A message of a guest. */
const byGuest = (scheduled: New<ScheduledMessage>, guestId: string): New<ScheduledMessage> => ({
  ...scheduled,
  publisher: { kind: 'account', userId: guestId, keyId: null },
  guestId,
  holderId: guestId,
});
const dropped = (reason: string) => ({
  state: 'dropped',
  reason,
  dueAt: null,
  holderId: null,
  endedAt: now,
  message: { message: '' },
});

test('waiting messages of a deleted topic are dropped without their content, and those that ended stay', async () => {
  const [gone, kept] = [newTopic(newId()), newTopic(newId())];
  const waiting = await insert(newScheduledMessage(gone));
  const cancelled = newScheduledMessage(gone);
  const ended = await insert({ ...cancelled, ...endOf(cancelled, { state: 'cancelled' }, now - 1) });
  const other = await insert(newScheduledMessage(kept));
  expect(await dropScheduledOfTopic(engine.documents, gone.id, { limit: 10, now })).toBe(1);
  expect(await dropScheduledOfTopic(engine.documents, gone.id, { limit: 10, now })).toBe(0);
  expect(await find(waiting.id)).toMatchObject(dropped(topicWasDeleted));
  expect(await find(ended.id)).toEqual(ended);
  expect(await find(other.id)).toEqual(other);
});

test('the messages of a deleted account disappear, also from the list of others, who see why they were dropped', async () => {
  const [owner, other] = [newId(), newId()];
  const [own, foreign] = [newTopic(owner), newTopic(other)];
  const ofOwner = await insert(newScheduledMessage(own));
  const ofGuest = await insert(byGuest(newScheduledMessage(own), other));
  const asGuest = await insert(byGuest(newScheduledMessage(foreign), owner));
  const kept = await insert(newScheduledMessage(foreign));
  for (let changed = 1; changed > 0;) changed = await eraseScheduledOf(engine.documents, owner, { limit: 1, now });
  expect(await find(ofOwner.id)).toBeNull();
  expect(await find(ofGuest.id)).toMatchObject({ ...dropped(topicWasDeleted), topicOwnerId: null, guestId: other });
  expect(await find(asGuest.id)).toMatchObject({
    ...dropped(accountWasDeleted),
    topicOwnerId: other,
    guestId: null,
    publisher: { kind: 'anonymous' },
  });
  expect(await find(kept.id)).toEqual(kept);
  for (let changed = 1; changed > 0;) changed = await eraseScheduledOf(engine.documents, other, { limit: 10, now });
  expect(await Promise.all([ofGuest, asGuest, kept].map(({ id }) => find(id)))).toEqual([null, null, null]);
});
