import { expect, test } from '@jest/globals';
import { checkCollection } from '../ports/document-checks.ts';
import { collections } from './collections.ts';

test.each(collections.map((collection) => [collection.name, collection] as const))(
  '%s has a valid declaration',
  (_name, collection) => {
    expect(() => checkCollection(collection)).not.toThrow();
  },
);

test('collection names are unique', () => {
  expect(new Set(collections.map(({ name }) => name)).size).toBe(collections.length);
});
