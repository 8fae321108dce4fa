import { expect, test } from '@jest/globals';
import { expiredDocuments } from './expired-documents.ts';

test('removals of expired documents are not announced to caches', () => {
  expect(expiredDocuments.filter(({ collection }) => collection.cached !== undefined)).toEqual([]);
});
