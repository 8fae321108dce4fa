import { expect, test } from '@jest/globals';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { newId, newMessage } from '@tocsin/shared/testing/builders.ts';
import { messageDelivery, recordDelivery, type Delivery } from './delivery.ts';
import { RecentBudget } from './recent-budget.ts';
import { RecentMessages } from './recent-messages.ts';

const topicId = newId();
const at = (offset: number, changes: Partial<StoredMessage> = {}): StoredMessage => ({
  ...newMessage(topicId),
  message: `${offset}`,
  ...changes,
  offset,
});
const told = { now: 0, topicName: 'alarms' };

function recentFrom(from: number, ...messages: StoredMessage[]): RecentMessages {
  const recent = new RecentMessages(from, new RecentBudget(64 * 1024 * 1024));
  for (const message of messages) recent.add(message, messageDelivery(message, 'alarms'));
  return recent;
}
const shown = (deliveries: readonly Delivery[]) =>
  deliveries.map(({ sseEvent }) => {
    const { topic, message, offset } = JSON.parse(/^data: (.+)$/m.exec(sseEvent.toString())![1]!) as {
      topic: string;
      message: string;
      offset: number;
    };
    return `${topic} ${offset} ${message}`;
  });

test('knows the messages after its start and reports what it does not know', () => {
  const recent = recentFrom(4, at(5), at(9));
  expect([3, 4, 5].map((offset) => recent.reaches(offset))).toEqual([false, true, true]);
  expect([4, 5, 9].map((offset) => shown(recent.after(offset, told)))).toEqual([
    ['alarms 5 5', 'alarms 9 9'],
    ['alarms 9 9'],
    [],
  ]);
});

test('shows current messages under the topic’s current name, without deleted and expired ones', () => {
  const [edited, deleted, expiring] = [at(1), at(2), at(3, { expiresAt: 1_000 })] as const;
  const recent = recentFrom(0, edited, deleted, expiring);
  recent.change({ ...edited, message: 'edited', offset: 7 }, 'alarms');
  recent.change({ ...deleted, isDeleted: true, message: '', offset: 8 }, 'alarms');
  expect(shown(recent.after(0, told))).toEqual(['alarms 1 edited', 'alarms 3 3']);
  expect(shown(recent.after(0, { now: 1_000, topicName: 'bells' }))).toEqual(['bells 1 edited']);
});

test('older messages join without gaps or duplicates', () => {
  const recent = recentFrom(4, at(5));
  recent.extend(1, [at(2), at(4), at(5, { message: 'older' })], 'alarms');
  expect(recent.reaches(1)).toBe(true);
  expect(shown(recent.after(1, told))).toEqual(['alarms 2 2', 'alarms 4 4', 'alarms 5 5']);
});

test('is bounded in number and bytes by dropping the oldest', () => {
  const many = recentFrom(0, ...Array.from({ length: 3_030 }, (_, n) => at(n + 1)));
  expect([29, 30].map((offset) => many.reaches(offset))).toEqual([false, true]);
  expect(many.after(30, told)).toHaveLength(3_000);
  const text = '.'.repeat(4_000);
  const long = recentFrom(0, ...Array.from({ length: 2_000 }, (_, n) => at(n + 1, { message: text })));
  expect([1_000, 1_999].map((offset) => long.reaches(offset))).toEqual([false, true]);
});

test('gives up its messages when others use the budget, unless it was used more recently', () => {
  const budget = new RecentBudget(30_000);
  const [first, second, third] = [0, 0, 0].map(() => new RecentMessages(0, budget)) as [
    RecentMessages,
    RecentMessages,
    RecentMessages,
  ];
  const fill = (recent: RecentMessages) => {
    const message = at(1, { message: '.'.repeat(3_500) });
    recent.add(message, recordDelivery({ offset: 1, type: 'message', message }, 'alarms'));
  };
  fill(first);
  fill(second);
  first.after(0, told);
  fill(third);
  expect([first, second, third].map((recent) => recent.reaches(0))).toEqual([true, false, true]);
  expect(second.reaches(1)).toBe(true);
});
