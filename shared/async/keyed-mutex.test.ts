import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { unavailable } from '../domain/errors.ts';
import { KeyedMutex } from './keyed-mutex.ts';

/** Work that records its start and ends on request. */
function tracked(mutex: KeyedMutex) {
  const running: string[] = [];
  const begin = (holderId: string, name: string) => {
    const done = Promise.withResolvers<string>();
    const result = mutex.run(holderId, async () => {
      running.push(name);
      return done.promise.finally(() => running.splice(running.indexOf(name), 1));
    });
    result.catch(() => undefined);
    return { ...done, result };
  };
  return { running, begin };
}

test('runs work of one key in order, one at a time, even after an error; other keys do not wait', async () => {
  const { running, begin } = tracked(new KeyedMutex());
  const [first, second, third, other] = [
    begin('a', 'first'),
    begin('a', 'second'),
    begin('a', 'third'),
    begin('b', 'other'),
  ];
  await nextTurn();
  expect(running).toEqual(['first', 'other']);
  first.resolve('1');
  expect(await first.result).toBe('1');
  await nextTurn();
  expect(running).toEqual(['other', 'second']);
  second.reject(new Error('refused'));
  await expect(second.result).rejects.toThrow('refused');
  await nextTurn();
  expect(running).toEqual(['other', 'third']);
  third.resolve('3');
  other.resolve('b');
  expect(await Promise.all([third.result, other.result])).toEqual(['3', 'b']);
  const later = begin('a', 'later');
  await nextTurn();
  expect(running).toEqual(['later']);
  later.resolve('');
  await later.result;
});

test('runs waiting work concurrently after the store became unavailable', async () => {
  const { running, begin } = tracked(new KeyedMutex());
  const [first, ...others] = ['1', '2', '3'].map((name) => begin('a', name));
  await nextTurn();
  first!.reject(unavailable('Database'));
  await expect(first!.result).rejects.toThrow('unavailable');
  await nextTurn();
  expect(running).toEqual(['2', '3']);
  for (const other of others) other.resolve('');
  await Promise.all(others.map(({ result }) => result));
});

test('work for several keys waits for each of them, in whatever order they are given', async () => {
  const mutex = new KeyedMutex();
  const { running, begin } = tracked(mutex);
  const blocking = begin('b', 'blocking');
  const done: string[] = [];
  const both = [
    ['a', 'b'],
    ['b', 'a', 'b'],
  ].map((keys) => mutex.runForAll(keys, async () => void done.push(keys.join(' '))));
  await nextTurn();
  expect([running, done]).toEqual([['blocking'], []]);
  blocking.resolve('');
  await Promise.all(both);
  expect(done).toEqual(['a b', 'b a b']);
  await mutex.runForAll([], async () => void done.push('none'));
  expect(done.at(-1)).toBe('none');
});
