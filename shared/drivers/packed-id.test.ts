import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { packId, unpackId } from './packed-id.ts';

const uuid = '0123abcd-4567-89ef-cdba-9876543210fe';

test('packs a UUID into 16 bytes with the sort order of its text, and unpacks it', () => {
  expect(packId(uuid)).toEqual(
    new Uint8Array([0x01, 0x23, 0xab, 0xcd, 0x45, 0x67, 0x89, 0xef, 0xcd, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0xfe]),
  );
  const ids = Array.from({ length: 100 }, () => randomUUID()).sort();
  const packed = ids.map(packId);
  expect(packed.map(unpackId)).toEqual(ids);
  expect([...packed].sort((a, b) => Buffer.compare(a as Uint8Array, b as Uint8Array))).toEqual(packed);
});

test.each([
  ['nothing', ''],
  ['a short text', 'model-1'],
  ['upper case', uuid.toUpperCase()],
  ['another text of the same length', 'x'.repeat(36)],
  ['dashes', '-'.repeat(36)],
  ['a digit instead of a dash', uuid.replace('-', '0')],
  ['a dash instead of a digit', `-${uuid.slice(1)}`],
  ['a letter after the digits', `${uuid.slice(0, 35)}g`],
  ['non-ASCII text', `${uuid.slice(0, 35)}é`],
  ['half a character', `${uuid.slice(0, 34)}🔔`.slice(0, 36)],
  ['one digit more', `${uuid}0`],
])('keeps %s, which is not a UUID, unchanged', (_, id) => {
  expect(packId(id)).toBe(id);
  expect(unpackId(packId(id))).toBe(id);
});
