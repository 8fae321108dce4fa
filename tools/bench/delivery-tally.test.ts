import { expect, test } from '@jest/globals';
import { DeliveryTally, textOf } from './delivery-tally.ts';

const deliver = (tally: DeliveryTally, stream: number, numbers: readonly number[]) => {
  const take = tally.stream(stream);
  for (const number of numbers) take(Buffer.from(textOf(number, 20)), 0);
};

test('counts messages received once and in order as distinct', () => {
  const tally = new DeliveryTally(1, 3);
  deliver(tally, 0, [0, 1, 2]);
  expect(tally).toMatchObject({ received: 3, distinct: 3, repeated: 0, outOfOrder: 0 });
});

test('counts duplicates as repeated and late messages as out of order; missing messages are not distinct', () => {
  const tally = new DeliveryTally(1, 4);
  deliver(tally, 0, [0, 3, 1, 1]);
  expect(tally).toMatchObject({ received: 4, distinct: 3, repeated: 1, outOfOrder: 2 });
});

test('counts each stream separately', () => {
  const tally = new DeliveryTally(2, 2);
  deliver(tally, 0, [0, 1]);
  deliver(tally, 1, [0, 1]);
  expect(tally).toMatchObject({ received: 4, distinct: 4, repeated: 0, outOfOrder: 0 });
});

test('ignores unknown texts', () => {
  const tally = new DeliveryTally(1, 2);
  const take = tally.stream(0);
  take(Buffer.from('Connected to bench'), 0);
  take(Buffer.from(textOf(2, 20)), 0);
  expect(tally.received).toBe(0);
});

test('counts a message from before the measurement as repeated', () => {
  const tally = new DeliveryTally(1, 2);
  deliver(tally, 0, [0]);
  tally.startMeasuring();
  deliver(tally, 0, [0, 1]);
  expect(tally).toMatchObject({ received: 2, distinct: 1, repeated: 1 });
});
