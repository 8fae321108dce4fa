import { expect, test } from '@jest/globals';
import { StallWatch } from './stall-watch.ts';

function watchAt() {
  let now = 0;
  return { watch: new StallWatch(() => now), pass: (ms: number) => (now += ms) };
}

test('a reader is stalled if it lags without progress for fifteen seconds', () => {
  const { watch, pass } = watchAt();
  expect(watch.isStalled(0, { offset: 5, end: 9 })).toBe(false);
  pass(14_999);
  expect(watch.isStalled(0, { offset: 5, end: 9 })).toBe(false);
  pass(1);
  expect(watch.isStalled(0, { offset: 5, end: 12 })).toBe(true);
});

test('a reader with progress is not stalled, regardless of its lag', () => {
  const { watch, pass } = watchAt();
  for (let offset = 0; offset < 10; offset += 1) {
    expect(watch.isStalled(0, { offset, end: 1_000_000 })).toBe(false);
    pass(14_000);
  }
});

test('a record after a long idle time does not make a reader stalled', () => {
  const { watch, pass } = watchAt();
  watch.isStalled(0, { offset: 5, end: 5 });
  pass(3_600_000);
  expect(watch.isStalled(0, { offset: 5, end: 6 })).toBe(false);
  pass(5_000);
  expect(watch.isStalled(0, { offset: 6, end: 6 })).toBe(false);
});

test('a reader with an unknown offset is stalled if the end advanced and no record arrived', () => {
  const { watch, pass } = watchAt();
  watch.isStalled(0, { offset: null, end: 100 });
  pass(60_000);
  expect(watch.isStalled(0, { offset: null, end: 100 })).toBe(false);
  expect(watch.isStalled(0, { offset: null, end: 101 })).toBe(false);
  pass(15_000);
  expect(watch.isStalled(0, { offset: null, end: 101 })).toBe(true);
});

test('watches partitions separately and resets them together', () => {
  const { watch, pass } = watchAt();
  watch.isStalled(0, { offset: 1, end: 2 });
  watch.isStalled(1, { offset: 2, end: 2 });
  pass(20_000);
  expect(watch.isStalled(1, { offset: 2, end: 2 })).toBe(false);
  expect(watch.isStalled(0, { offset: 1, end: 2 })).toBe(true);
  watch.clear();
  expect(watch.isStalled(0, { offset: 1, end: 2 })).toBe(false);
});
