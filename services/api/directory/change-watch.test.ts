import { beforeEach, describe, expect, test } from '@jest/globals';
import { unavailable } from '@tocsin/shared/domain/errors.ts';
import { checksumOf } from '@tocsin/shared/platform/ids.ts';
import { announcedAheadMsMax, type AnnouncedChanges } from '@tocsin/shared/ports/announced-changes.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { ChangeWatch } from './change-watch.ts';

const log = openLogger('test', 'silent');
const longAgo = announcedAheadMsMax + 1;

describe('a change watch', () => {
  let now: number;
  let next: () => Promise<AnnouncedChanges>;
  const asked: (string | null)[] = [];
  let watch: ChangeWatch;
  const announce = (ids: readonly string[] | 'all', position = 'p1') => {
    next = () => Promise.resolve({ position, checksums: ids === 'all' ? ids : ids.map(checksumOf) });
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
      log,
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
    await announce([], 'p2');
    await announce([], 'p2');
    expect(asked).toEqual([null, 'p1', 'p1', 'p2']);
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
    answer.resolve({ position: 'p1', checksums: [] });
    await reading;
    expect(watch.isCurrent('a', longAgo)).toBe(false);
  });

  test('a failed read changes nothing, and the next one covers its changes', async () => {
    const changedAt = now;
    next = () => Promise.reject(unavailable('Database'));
    await expect(watch.read()).rejects.toMatchObject({ code: 'unavailable' });
    expect(watch.isCurrent('a', changedAt)).toBe(true);
    await announce(['a'], 'p2');
    expect(asked.slice(-2)).toEqual(['p1', 'p1']);
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

  test('a value is current for eight to ten minutes, depending on its ID, and its changes are known as long', async () => {
    const firstAt = now;
    for (const id of ['a', 'b', 'c']) {
      const ms = 480_000 + (checksumOf(id) % 120_000);
      await readAt(firstAt + ms - 1);
      expect(watch.isCurrent(id, firstAt)).toBe(true);
      await readAt(firstAt + ms);
      expect(watch.isCurrent(id, firstAt)).toBe(false);
      await readAt(firstAt);
      await announce([id]);
      await readAt(firstAt + ms - 1);
      expect(watch.isCurrent(id, firstAt)).toBe(false);
    }
  });

  test('reads until it is closed, and logs once per outage', async () => {
    const warnings: unknown[] = [];
    let reads = 0;
    watch = new ChangeWatch({
      clock: () => now,
      log: { warn: (details: unknown) => void warnings.push(details) },
      storage: {
        changesSince: () => {
          reads += 1;
          return Promise.reject(unavailable('Database'));
        },
      },
    });
    watch.start();
    await eventually(() => Promise.resolve(reads >= 3));
    watch.close();
    expect(warnings).toHaveLength(1);
  });

  test('no value is current if the store has no announcements, or before they were read', () => {
    expect(new ChangeWatch({ clock: () => now, log, storage: {} }).isCurrent('a', now)).toBe(false);
    const unread = new ChangeWatch({ clock: () => now, log, storage: { changesSince: () => next() } });
    expect(unread.isCurrent('a', now)).toBe(false);
  });
});
