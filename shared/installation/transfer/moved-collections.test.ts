import { expect, test } from '@jest/globals';
import { collections } from '../../collections/collections.ts';
import { movedCollections } from './moved-collections.ts';

test('of every collection it is decided whether it moves, and why it does not', () => {
  expect(Object.keys(movedCollections).sort()).toEqual(collections.map(({ name }) => name).sort());
});
