import { expect, test } from '@jest/globals';
import { checkCollection } from '../ports/document-checks.ts';
import { collections } from './collections.ts';

test.each(collections.map((collection) => [collection.name, collection] as const))(
  '%s is declared as every driver takes it',
  (_name, collection) => {
    expect(() => checkCollection(collection)).not.toThrow();
  },
);

test('no two collections share a name', () => {
  expect(new Set(collections.map(({ name }) => name)).size).toBe(collections.length);
});
