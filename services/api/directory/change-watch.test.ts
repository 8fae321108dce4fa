import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { unavailable } from '@tocsin/shared/domain/errors.ts';
import { checksumOf } from '@tocsin/shared/platform/ids.ts';
import { announcedAheadMsMax, type AnnouncedChanges } from '@tocsin/shared/ports/announced-changes.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { CachedLookup } from './cached-lookup.ts';
import { ChangeWatch } from './change-watch.ts';

const log = openLogger('test', 'silent');
const longAgo = announcedAheadMsMax + 1;

describe('a change watch', () => {
  let now: number;
  let values: number;
  const options = { clock: () => now, countValues: () => values, log };
  let next: () => Promise<AnnouncedChanges>;
  const asked: (string | null)[] = [];
  let watch: ChangeWatch;
  const announce = (ids: readonly string[] | 'all', position = 'p1') => {
    next = () => Promise.resolve({ position, checksums: ids === 'all' ? ids : ids.map(checksumOf) });
    return watch.read();
  };
  const isCurrent = (id: string, currentAt: number, loadedAt = currentAt) =>
    watch.isCurrent(id, { loadedAt, currentAt });
  /** Reads that there are no more changes. */
  const readAt = (time: number) => {
    now = time;
    return announce([]);
  };
  beforeEach(async () => {
    now = 0;
    values = 1;
    asked.length = 0;
    watch = new ChangeWatch({
      ...options,
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
    expect(isCurrent('a', now)).toBe(true);
    await readAt(longAgo + 60_000);
    expect(isCurrent('a', longAgo)).toBe(true);
    now += 1_799;
    expect(isCurrent('a', longAgo)).toBe(true);
    now += 1;
    expect(isCurrent('a', longAgo)).toBe(false);
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
    expect(isCurrent('a', changedAt)).toBe(false);
    expect(isCurrent('a', changedAt + announcedAheadMsMax)).toBe(false);
    expect(isCurrent('a', changedAt + longAgo)).toBe(true);
    expect(isCurrent('b', changedAt)).toBe(true);
  });

  test('the age counts from the start of the read that found no change', async () => {
    const answer = Promise.withResolvers<AnnouncedChanges>();
    next = () => answer.promise;
    const reading = watch.read();
    now += 1_800;
    answer.resolve({ position: 'p1', checksums: [] });
    await reading;
    expect(isCurrent('a', longAgo)).toBe(false);
  });

  test('a failed read changes nothing, and the next one covers its changes', async () => {
    const changedAt = now;
    next = () => Promise.reject(unavailable('Database'));
    await expect(watch.read()).rejects.toMatchObject({ code: 'unavailable' });
    expect(isCurrent('a', changedAt)).toBe(true);
    await announce(['a'], 'p2');
    expect(asked.slice(-2)).toEqual(['p1', 'p1']);
    expect(isCurrent('a', changedAt)).toBe(false);
  });

  test('every value counts as changed after announcements that are not known one by one', async () => {
    const changedAt = now;
    await announce('all');
    expect(isCurrent('a', changedAt)).toBe(false);
    await readAt(changedAt + longAgo + 1);
    expect(isCurrent('a', changedAt)).toBe(false);
    expect(isCurrent('a', changedAt + longAgo)).toBe(true);
  });

  test('every value counts as changed after more changes than it keeps', async () => {
    const changedAt = now;
    await announce(Array.from({ length: 20_001 }, (_, index) => String(index)));
    await readAt(changedAt + longAgo + 1);
    expect(isCurrent('another', changedAt)).toBe(false);
    expect(isCurrent('another', changedAt + longAgo)).toBe(true);
  });

  /** The ages at which as many values are read again that were loaded together, as looked at every second. */
  const agesAtReload = async (count: number, seconds: { readonly from: number }) => {
    const loadedAt = now;
    values = count;
    const ages = new Map<string, number>();
    const isLeft = (id: string) => !ages.has(id);
    const ids = Array.from({ length: count }, (_, index) => `${index}`);
    for (let second = seconds.from; ids.some(isLeft); second += 1) {
      await readAt(loadedAt + second * 1_000);
      for (const id of ids.filter(isLeft)) if (!isCurrent(id, now, loadedAt)) ages.set(id, second);
    }
    return [...ages.values()];
  };

  test('values are read again after eight to ten minutes, however long they were current', async () => {
    const ages = await agesAtReload(2_000, { from: 470 });
    expect([ages[0], ages.at(-1)]).toEqual([481, 600]);
  });

  test('more than 9,600 values are read again later, fewer than 100 per second', async () => {
    const ages = await agesAtReload(12_000, { from: 590 });
    expect([ages[0], ages.at(-1)]).toEqual([601, 750]);
    const perSecond = Map.groupBy(ages, (age) => age).values();
    expect(Math.max(...perSecond.map(({ length }) => length))).toBeLessThan(100);
  });

  test('a value that was not used for ten minutes is read again, and changes are known for as long', async () => {
    const firstAt = now;
    await announce(['a']);
    for (const id of ['a', 'b']) {
      await readAt(firstAt + 599_999);
      expect(isCurrent(id, firstAt, now)).toBe(id === 'b');
      await readAt(firstAt + 600_000);
      expect(isCurrent(id, firstAt, now)).toBe(false);
    }
    // This value may be older than the change, although it was loaded after its announcement.
    await readAt(firstAt + 600_000 + announcedAheadMsMax - 1);
    expect(isCurrent('a', firstAt + announcedAheadMsMax, now)).toBe(false);
  });

  test('a cached value is at most 1.8 s old, for any times of changes, reads and uses', async () => {
    const id = fc.constantFrom('a', 'b');
    const ms = fc.oneof(...[2_000, announcedAheadMsMax, 600_000].map((max) => fc.integer({ min: max * 0.9, max })));
    const step = fc.oneof(
      fc.record({ kind: fc.constant('wait' as const), ms }),
      fc.record({ kind: fc.constant('read' as const) }),
      fc.record({ kind: fc.constant('use' as const), id }),
      fc.record({ kind: fc.constant('change' as const), id, inMs: fc.nat({ max: announcedAheadMsMax - 1 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        values = 1_000_000; // none is read again because of its age
        const writes: { readonly id: string; readonly at: number }[] = [];
        const announced: string[] = [];
        const versionAt = (of: string, time: number) => writes.filter(({ id, at }) => id === of && at <= time).length;
        const cache = new CachedLookup<{ id: string; version: number }>({
          clock: () => now,
          load: (key) => Promise.resolve({ id: key, version: versionAt(key, now) }),
          isCurrent: (value, times) => watch.isCurrent(value.id, times),
        });
        for (const one of steps)
          if (one.kind === 'wait') now += one.ms;
          else if (one.kind === 'read') await announce(announced.splice(0));
          else if (one.kind === 'change') {
            announced.push(one.id);
            writes.push({ id: one.id, at: now + one.inMs });
          } else expect((await cache.get(one.id))!.version).toBeGreaterThanOrEqual(versionAt(one.id, now - 1_800));
      }),
      { numRuns: 1_000 },
    );
  });

  test('reads until it is closed, and logs once per outage', async () => {
    const warnings: unknown[] = [];
    let reads = 0;
    watch = new ChangeWatch({
      ...options,
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
    expect(new ChangeWatch({ ...options, storage: {} }).isCurrent('a', { loadedAt: now, currentAt: now })).toBe(false);
    const unread = new ChangeWatch({ ...options, storage: { changesSince: () => next() } });
    expect(unread.isCurrent('a', { loadedAt: now, currentAt: now })).toBe(false);
  });
});
