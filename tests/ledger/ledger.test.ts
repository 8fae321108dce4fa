import { describe, expect, test } from '@jest/globals';
import { isBroken, verifyReader, sharedPlaces, type Acked, type Line, type ReaderLog, type Seen } from './ledger.ts';

const lines: Line[] = Array.from({ length: 6 }, (_, index) => ({
  publisher: `p${index % 2}`,
  n: Math.floor(index / 2),
  topic: 't',
  text: `line ${index}`,
  priority: 3,
}));
const acked: Acked[] = lines.map((line, index) => ({ line, id: `id${index}`, offset: index * 3, attempts: 1 }));
const all: Seen[] = acked.map(({ line, id, offset }) => ({ topic: line.topic, text: line.text, id, offset }));
const reader = (seen: Seen[], mayRepeat = false): ReaderLog => ({
  name: 'r',
  topics: ['t'],
  seen,
  connections: 1,
  mayRepeat,
});
const verify = (seen: Seen[]) => verifyReader(reader(seen), lines, acked);

describe('the checker', () => {
  test('accepts a complete and ordered reader', () => {
    expect(verify(all)).toEqual({ lost: 0, repeated: 0, phantom: 0, changed: 0, inverted: 0, outOfPublishersOrder: 0 });
  });

  test('detects a missing line', () => {
    expect(verify(all.filter((_, index) => index !== 2))).toMatchObject({ lost: 1 });
  });

  test('detects a duplicate and rejects it only if duplicates are not allowed', () => {
    const verdict = verify([...all, all[3]!]);
    expect(verdict).toMatchObject({ repeated: 1, lost: 0 });
    expect([isBroken(verdict, reader([])), isBroken(verdict, reader([], true))]).toEqual([true, false]);
  });

  test('detects two swapped lines', () => {
    const swapped = [...all];
    [swapped[1], swapped[2]] = [swapped[2]!, swapped[1]!];
    expect(verify(swapped)).toMatchObject({ inverted: 1 });
  });

  test('detects reordered lines of a publisher, whatever their offsets', () => {
    const renumbered = [all[2]!, all[0]!, ...all.slice(3)].map((seen, index) => ({ ...seen, offset: index }));
    expect(verify(renumbered)).toMatchObject({ inverted: 0, outOfPublishersOrder: 1 });
  });

  test('detects lines that were never sent or were changed', () => {
    expect(verify([...all, { topic: 't', id: 'x', offset: 99, text: 'never sent' }])).toMatchObject({ phantom: 1 });
    expect(verify(all.map((seen, index) => (index === 4 ? { ...seen, text: 'other' } : seen)))).toMatchObject({
      changed: 1,
    });
  });

  test('detects two acknowledgements of one offset', () => {
    expect(sharedPlaces(acked)).toBe(0);
    expect(sharedPlaces([...acked, { ...acked[0]!, id: 'id9' }])).toBe(1);
  });
});
