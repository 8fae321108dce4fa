import { expect, test } from '@jest/globals';
import { needsConfirmation, planOf, type PlannedTopic } from './retention-plan.ts';
import type { Tier } from '../accounts/tiers.ts';

const topic = (topicId: string, tier: Tier | null, messages: number, isHeld = false): PlannedTopic => ({
  topicId,
  name: topicId,
  tier,
  retentionDays: null,
  isHeld,
  isProtected: false,
  messages,
  bytes: messages * 10,
});

test('a plan sums expired messages by tier, lists the largest topics first, and sums held topics separately', () => {
  const plan = planOf(
    5,
    [topic('a', 'FREE', 2), topic('b', 'TEAM', 3, true), topic('c', null, 4), topic('d', 'FREE', 5)],
    new Map([
      ['FREE', 20],
      ['TEAM', 9],
    ]),
  );
  expect(plan).toMatchObject({
    upTo: 5,
    messages: 11,
    bytes: 110,
    held: { messages: 3, bytes: 30 },
    tiers: [{ tier: 'FREE', messages: 7, bytes: 70, ofMessages: 20 }],
  });
  expect(plan.topics.map(({ topicId }) => topicId)).toEqual(['d', 'c', 'b', 'a']);
});

test.each([
  [10_000, 10_000, false],
  [10_001, 10_001, true],
  [10_001, 50_005, false],
  [10_002, 50_009, true],
])('a removal of %i of %i messages of a tier needs confirmation: %s', (messages, ofMessages, isLarge) => {
  expect(needsConfirmation(planOf(0, [topic('a', 'TEAM', messages)], new Map([['TEAM', ofMessages]])))).toBe(isLarge);
});

test('a plan needs confirmation by its total or by any of its tiers', () => {
  const plan = planOf(
    0,
    [topic('a', 'TEAM', 10_000), topic('b', 'FREE', 1)],
    new Map<Tier, number>([
      ['TEAM', 1_000_000],
      ['FREE', 2],
    ]),
  );
  expect(needsConfirmation(plan)).toBe(true);
});
