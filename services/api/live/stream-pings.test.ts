import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { StreamPings } from './stream-pings.ts';

test('pings thousands of streams that opened together in turns of the event loop, until they close', async () => {
  let turns = 0;
  let isCounting = true;
  const counting = (async () => {
    for (; isCounting; turns += 1) await nextTurn();
  })();
  const pings = new StreamPings({ everyMs: 20 });
  const pinged = new Map<number, number>();
  const counts = new Map<object, number>();
  const sinks = Array.from({ length: 2_000 }, () => {
    const sink = {
      ping: () => {
        pinged.set(turns, (pinged.get(turns) ?? 0) + 1);
        counts.set(sink, (counts.get(sink) ?? 0) + 1);
      },
    };
    return sink;
  });
  const [closed, ...others] = sinks;
  for (const sink of sinks) pings.add(sink);
  pings.delete(closed!);
  await eventually(() => others.every((sink) => counts.get(sink)! >= 2));
  pings.close();
  isCounting = false;
  await counting;
  expect(counts.has(closed!)).toBe(false);
  expect(Math.max(...pinged.values())).toBeLessThanOrEqual(200);
});
