import { expect, test } from '@jest/globals';
import { DeliveryTally, textOf } from './delivery-tally.ts';

const deliver = (tally: DeliveryTally, stream: number, numbers: readonly number[]) => {
  const take = tally.stream(stream);
  for (const number of numbers) take(Buffer.from(textOf(number, 20)), 0);
};

test('messages that came once and in order are distinct and nothing else', () => {
  const tally = new DeliveryTally(1, 3);
  deliver(tally, 0, [0, 1, 2]);
  expect(tally).toMatchObject({ received: 3, distinct: 3, repeated: 0, outOfOrder: 0 });
});

test('a message that comes again is repeated, one that comes late is out of order, one that is missing lacks in distinct', () => {
  const tally = new DeliveryTally(1, 4);
  deliver(tally, 0, [0, 3, 1, 1]);
  expect(tally).toMatchObject({ received: 4, distinct: 3, repeated: 1, outOfOrder: 2 });
});

test('streams are counted apart', () => {
  const tally = new DeliveryTally(2, 2);
  deliver(tally, 0, [0, 1]);
  deliver(tally, 1, [0, 1]);
  expect(tally).toMatchObject({ received: 4, distinct: 4, repeated: 0, outOfOrder: 0 });
});

test('texts that are none of the messages are not counted', () => {
  const tally = new DeliveryTally(1, 2);
  const take = tally.stream(0);
  take(Buffer.from('Connected to bench'), 0);
  take(Buffer.from(textOf(2, 20)), 0);
  expect(tally.received).toBe(0);
});

test('what was seen before the measurement is still known in it', () => {
  const tally = new DeliveryTally(1, 2);
  deliver(tally, 0, [0]);
  tally.startMeasuring();
  deliver(tally, 0, [0, 1]);
  expect(tally).toMatchObject({ received: 2, distinct: 1, repeated: 1 });
});
