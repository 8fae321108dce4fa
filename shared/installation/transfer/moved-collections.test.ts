import { expect, test } from '@jest/globals';
import { collections } from '../../collections/collections.ts';
import { movedCollections } from './moved-collections.ts';

test('states for every collection whether it moves, or why it does not', () => {
  expect(Object.keys(movedCollections).sort()).toEqual(collections.map(({ name }) => name).sort());
});
