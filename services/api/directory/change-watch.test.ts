import { beforeEach, describe, expect, test } from '@jest/globals';
import { unavailable } from '@tocsin/shared/domain/errors.ts';
import { announcedAheadMsMax, type AnnouncedChanges } from '@tocsin/shared/ports/engine.ts';
import { ChangeWatch } from './change-watch.ts';

const longAgo = announcedAheadMsMax + 1;

describe('a change watch', () => {
  let now: number;
  let next: () => Promise<AnnouncedChanges>;
  const asked: (number | null)[] = [];
  let watch: ChangeWatch;
  const announce = (ids: AnnouncedChanges['ids'], position = 1) => {
    next = () => Promise.resolve({ position, ids });
    return watch.read();
  };
  /** Reads that there are no more changes. */
  const readAt = (time: number) => {
    now = time;
    return announce([]);
  };
  beforeEach(async () => {
    now = 0;
    asked.length = 0;
    watch = new ChangeWatch({
      clock: () => now,
      storage: {
        changesSince: (position) => {
          asked.push(position);
          return next();
        },
      },
    });
    await announce('all');
    await readAt(longAgo);
  });

  test('a value without a change is current, whatever its age, until no change is known for 1.8 s', async () => {
    expect(watch.isCurrent('a', now)).toBe(true);
    await readAt(longAgo + 60_000);
    expect(watch.isCurrent('a', longAgo)).toBe(true);
    now += 1_799;
    expect(watch.isCurrent('a', longAgo)).toBe(true);
    now += 1;
    expect(watch.isCurrent('a', longAgo)).toBe(false);
  });

  test('reads from the last position on', async () => {
    await announce([], 7);
    await announce([], 7);
    expect(asked).toEqual([null, 1, 1, 7]);
  });

  test('a changed value is not current, nor one that was read while the change could take place', async () => {
    const changedAt = now;
    await announce(['a']);
    await readAt(changedAt + longAgo + 1);
    expect(watch.isCurrent('a', changedAt)).toBe(false);
    expect(watch.isCurrent('a', changedAt + announcedAheadMsMax)).toBe(false);
    expect(watch.isCurrent('a', changedAt + longAgo)).toBe(true);
    expect(watch.isCurrent('b', changedAt)).toBe(true);
  });

  test('the age counts from the start of the read that found no change', async () => {
    const answer = Promise.withResolvers<AnnouncedChanges>();
    next = () => answer.promise;
    const reading = watch.read();
    now += 1_800;
    answer.resolve({ position: 1, ids: [] });
    await reading;
    expect(watch.isCurrent('a', longAgo)).toBe(false);
  });

  test('a failed read changes nothing, and the next one covers its changes', async () => {
    const changedAt = now;
    next = () => Promise.reject(unavailable('Database'));
    await expect(watch.read()).rejects.toMatchObject({ code: 'unavailable' });
    expect(watch.isCurrent('a', changedAt)).toBe(true);
    await announce(['a'], 2);
    expect(asked.slice(-2)).toEqual([1, 1]);
    expect(watch.isCurrent('a', changedAt)).toBe(false);
  });

  test('every value counts as changed after announcements that are not known one by one', async () => {
    const changedAt = now;
    await announce('all');
    expect(watch.isCurrent('a', changedAt)).toBe(false);
    await readAt(changedAt + longAgo + 1);
    expect(watch.isCurrent('a', changedAt)).toBe(false);
    expect(watch.isCurrent('a', changedAt + longAgo)).toBe(true);
  });

  test('every value counts as changed after more changes than it keeps', async () => {
    const changedAt = now;
    await announce(Array.from({ length: 20_001 }, (_, index) => String(index)));
    await readAt(changedAt + longAgo + 1);
    expect(watch.isCurrent('another', changedAt)).toBe(false);
    expect(watch.isCurrent('another', changedAt + longAgo)).toBe(true);
  });

  test('a value is current for at most ten minutes, and its changes are known as long', async () => {
    const changedAt = now;
    await announce(['a']);
    await readAt(changedAt + 599_999);
    expect(watch.isCurrent('a', changedAt)).toBe(false);
    expect(watch.isCurrent('b', changedAt)).toBe(true);
    await readAt(changedAt + 600_000);
    expect(watch.isCurrent('b', changedAt)).toBe(false);
  });

  test('no value is current without announcements, or before the first', () => {
    const absent = new ChangeWatch({ clock: () => now, storage: {} });
    absent.start();
    expect(absent.isCurrent('a', now)).toBe(false);
    const unread = new ChangeWatch({ clock: () => now, storage: { changesSince: () => next() } });
    expect(unread.isCurrent('a', now)).toBe(false);
  });
});
