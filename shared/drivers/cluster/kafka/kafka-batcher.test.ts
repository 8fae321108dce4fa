import { expect, test } from '@jest/globals';
import { KafkaBatcher, type OutgoingRecord } from './kafka-batcher.ts';
import { NotAppended } from './not-appended.ts';

const record = (partition: number, bytes = 10): OutgoingRecord => ({
  partition,
  key: 'k',
  value: Buffer.alloc(bytes),
  headers: {},
});

/** A batcher whose sends end on the test's request. */
function manualBatcher() {
  const sends: { records: readonly OutgoingRecord[]; answer: PromiseWithResolvers<Map<number, number | Error>> }[] = [];
  const batcher = new KafkaBatcher((records) => {
    const answer = Promise.withResolvers<Map<number, number | Error>>();
    sends.push({ records, answer });
    return answer.promise;
  });
  return { batcher, sends };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test('batches records of one tick, and records that arrive during a send into the next batch', async () => {
  const { batcher, sends } = manualBatcher();
  const first = [batcher.append(record(0)), batcher.append(record(1)), batcher.append(record(0))];
  await turn();
  const second = [batcher.append(record(0)), batcher.append(record(1))];
  await turn();
  expect(sends.map(({ records }) => records.length)).toEqual([3]);
  sends[0]!.answer.resolve(
    new Map([
      [0, 7],
      [1, 100],
    ]),
  );
  expect(await Promise.all(first)).toEqual([7, 100, 8]);
  await turn();
  expect(sends.map(({ records }) => records.length)).toEqual([3, 2]);
  sends[1]!.answer.resolve(
    new Map([
      [0, 9],
      [1, 101],
    ]),
  );
  expect(await Promise.all(second)).toEqual([9, 101]);
  await batcher.drained();
});

test('rejects only the records of a failed send and sends the next batch', async () => {
  const { batcher, sends } = manualBatcher();
  const failing = batcher.append(record(0));
  await turn();
  const next = batcher.append(record(0));
  sends[0]!.answer.reject(new Error('connection lost'));
  await expect(failing).rejects.toMatchObject({ code: 'unavailable', cause: new Error('connection lost') });
  await turn();
  sends[1]!.answer.resolve(new Map([[0, 0]]));
  expect(await next).toBe(0);
});

test("limits a batch to the broker's size per partition and to a thousand records", async () => {
  const { batcher, sends } = manualBatcher();
  const answerAll = async (): Promise<void> => {
    for (let n = 0; n < sends.length; n += 1) {
      sends[n]!.answer.resolve(
        new Map([
          [0, 0],
          [1, 0],
        ]),
      );
      await turn();
    }
  };
  const large = Array.from({ length: 6 }, (_, n) => batcher.append(record(n % 2, 300_000)));
  const small = Array.from({ length: 2_500 }, () => batcher.append(record(0)));
  await turn();
  await answerAll();
  await Promise.all([...large, ...small]);
  for (const { records } of sends) {
    expect(records.length).toBeLessThanOrEqual(1_000);
    for (const own of Map.groupBy(records, ({ partition }) => partition).values()) {
      expect(own.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThan(1_000_000);
    }
  }
  expect(sends.flatMap(({ records }) => records).length).toBe(2_506);
});

test('sends an oversized record alone', async () => {
  const { batcher, sends } = manualBatcher();
  const outcome = batcher.append(record(0, 2_000_000));
  await turn();
  sends[0]!.answer.resolve(new Map([[0, 1]]));
  expect(await outcome).toBe(1);
});

test('rejects appends beyond ten thousand queued records or sixteen megabytes immediately', async () => {
  const { batcher, sends } = manualBatcher();
  const waiting = Array.from({ length: 10_000 }, () => batcher.append(record(0)));
  await expect(batcher.append(record(0))).rejects.toMatchObject({ code: 'unavailable' });
  await turn();
  for (let n = 0; n < sends.length; n += 1) {
    sends[n]!.answer.resolve(new Map([[0, 0]]));
    await turn();
  }
  await Promise.all(waiting);

  const large = Array.from({ length: 16 }, () => batcher.append(record(0, 1024 * 1024 - 1_000)));
  await expect(batcher.append(record(0, 100_000))).rejects.toMatchObject({ code: 'unavailable' });
  await turn();
  for (let n = 10; n < sends.length; n += 1) {
    sends[n]!.answer.resolve(new Map([[0, 0]]));
    await turn();
  }
  await Promise.all(large);
});

test('rejects only the records of a partition without a response', async () => {
  const { batcher, sends } = manualBatcher();
  const answered = batcher.append(record(0));
  const unanswered = batcher.append(record(1));
  await turn();
  sends[0]!.answer.resolve(new Map([[0, 3]]));
  expect(await answered).toBe(3);
  await expect(unanswered).rejects.toMatchObject({ code: 'unavailable' });
});

test('gives each partition its own outcome', async () => {
  const { batcher, sends } = manualBatcher();
  const [stored, moved, unknown, silent] = [0, 1, 2, 3].map((partition) => batcher.append(record(partition)));
  await turn();
  sends[0]!.answer.resolve(
    new Map<number, number | Error>([
      [0, 5],
      [1, new NotAppended('not the leader')],
      [2, new Error('timed out')],
    ]),
  );
  expect(await stored).toBe(5);
  await expect(moved).rejects.toBeInstanceOf(NotAppended);
  await expect(unknown).rejects.toMatchObject({ code: 'unavailable', cause: new Error('timed out') });
  await expect(silent).rejects.toMatchObject({ code: 'unavailable' });
});

test('rejects queued records of evicted partitions, and sends the others', async () => {
  const { batcher, sends } = manualBatcher();
  const inFlight = batcher.append(record(0));
  await turn();
  const [evicted, kept] = [batcher.append(record(0)), batcher.append(record(1))];
  batcher.evict((partition) => partition === 0);
  await expect(evicted).rejects.toBeInstanceOf(NotAppended);
  sends[0]!.answer.resolve(new Map([[0, 1]]));
  expect(await inFlight).toBe(1);
  await turn();
  expect(sends[1]!.records.map(({ partition }) => partition)).toEqual([1]);
  sends[1]!.answer.resolve(new Map([[1, 2]]));
  expect(await kept).toBe(2);
  await batcher.drained();
});
