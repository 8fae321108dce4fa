import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { StreamBudget } from './stream-budget.ts';
import type { EndReason } from './stream-sink.ts';

/** A client that receives what the test takes from its buffer. */
class TestSink {
  bufferedBytes = 0;
  reason: EndReason | null = null;
  readonly #listeners: (() => void)[] = [];

  end(reason: EndReason): void {
    this.reason = reason;
    this.cutOff();
  }

  cutOff(): void {
    this.bufferedBytes = 0;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  onClose(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

let budget: StreamBudget;
let now: number;
beforeEach(() => {
  budget = new StreamBudget({ log: { warn: () => undefined }, bytesMax: 1_000 });
  now = performance.now();
});
afterEach(() => budget.close());

const join = () => {
  const sink = new TestSink();
  const share = budget.join(sink);
  const write = (bytes: number) => {
    sink.bufferedBytes += bytes;
    share.written();
  };
  return { sink, share, write };
};
const review = (afterMs: number) => budget.review((now += afterMs));

test('counts what streams buffer and keep, and forgets closed ones', () => {
  const [one, other] = [join(), join()];
  one.write(300);
  other.share.keep(250);
  expect([budget.bytes, budget.isHalfUsed]).toEqual([550, true]);
  other.share.keep(-100);
  expect([budget.bytes, budget.isHalfUsed]).toEqual([450, false]);
  one.sink.bufferedBytes = 100; // received without a further write
  review(1_000);
  expect(budget.bytes).toBe(250);
  one.sink.cutOff();
  other.sink.cutOff();
  expect(budget.bytes).toBe(0);
  one.share.keep(500);
  expect(budget.bytes).toBe(0);
});

test('at the limit ends stalled streams, the longest stalled first, until the rest fits', () => {
  const [first, second, reading, last] = [join(), join(), join(), join()];
  first.write(400);
  review(1_000);
  second.write(400);
  reading.write(400);
  last.write(10);
  review(1_000);
  reading.sink.bufferedBytes = 399;
  review(1_000);
  reading.sink.bufferedBytes = 398;
  review(1_000);
  const reasons = () => [first, second, reading, last].map(({ sink }) => sink.reason);
  expect(reasons()).toEqual(['too-slow', null, null, null]);
  expect(budget.bytes).toBe(400 + 398 + 10);
  review(10_000);
  expect(reasons()).toEqual(['too-slow', null, null, null]);
});

test('does not end a stream whose client receives, however much it buffers', () => {
  const reading = join();
  reading.write(100_000);
  for (let round = 0; round < 20; round += 1) {
    reading.sink.bufferedBytes -= 1_000;
    review(1_000);
  }
  expect(reading.sink.reason).toBeNull();
});
