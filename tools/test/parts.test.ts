import { expect, test } from '@jest/globals';
import { join } from 'node:path';
import { parts, partsNamed } from './parts.ts';

test('named parts run in the order of the suite', () => {
  expect(partsNamed(['unit', 'types']).map(({ name }) => name)).toEqual(['types', 'unit']);
});

test('without a name all parts run', () => {
  expect(partsNamed([])).toEqual(parts);
});

test('what judges the results comes after all that has some', () => {
  const kinds = parts.map(({ judgesResults }) => judgesResults === true);
  expect(kinds).toContain(true);
  expect(kinds).toEqual([...kinds].sort());
});

test('an unknown name is an error that lists the parts', () => {
  expect(() => partsNamed(['unit', 'acceptence'])).toThrow(/called acceptence\. The parts: types, lint, unit/);
});

test('every project of the Jest configuration is run by a part, and no part names another', async () => {
  const file = join(import.meta.dirname, '..', '..', 'jest.config.js');
  const { default: config } = (await import(file)) as { default: { projects: { displayName: string }[] } };
  const projects = config.projects.map(({ displayName }) => displayName);
  const named = parts.flatMap((part) => (part.kind === 'jest' ? [part.project] : []));
  expect([...new Set(named)].sort()).toEqual([...projects].sort());
});
