import { expect, test } from '@jest/globals';
import { RowsDigest } from './rows-digest.ts';

function sumOf(...rows: object[]) {
  const digest = new RowsDigest();
  for (const row of rows) digest.add(row);
  return digest.sum;
}

test('a digest does not depend on the order of rows and keys, and changes with every added, changed or repeated row', () => {
  const [a, b] = [
    { id: '1', nested: { x: 1, y: null } },
    { id: '2', nested: [] },
  ];
  const sum = sumOf(a, b);
  expect(sumOf(b, { nested: { y: null, x: 1 }, id: '1' })).toEqual(sum);
  expect(sum).toMatchObject({ rows: 2, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const others = [
    sumOf(a),
    sumOf(a, b, b),
    sumOf(a, b, a),
    sumOf(a, { ...b, nested: [null] }),
    sumOf({ ...a, nested: { x: '1', y: null } }, b),
  ];
  expect(new Set([sum, ...others].map(({ digest }) => digest)).size).toBe(6);
});
