import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { embeddedOnly } from './embedded-only.ts';
import { groups, groupsNamed, parts } from './parts.ts';

test('runs named parts in the order of the suite', () => {
  const named = groupsNamed(['unit', 'lint', 'types']).map((group) => group.map(({ name }) => name));
  expect(named).toEqual([['unit'], ['lint', 'types']]);
});

test('runs all parts without a name', () => {
  expect(groupsNamed([])).toEqual(groups);
});

test('runs the part that checks results after all parts with results', () => {
  const kinds = parts.map(({ checksResults }) => checksResults === true);
  expect(kinds).toContain(true);
  expect(kinds).toEqual([...kinds].sort());
});

test('runs the part that depends on timing alone', () => {
  const names = groups.map((group) => group.map(({ name }) => name));
  expect(names).toContainEqual(['faults']);
});

test('throws for an unknown name and lists the parts', () => {
  expect(() => groupsNamed(['unit', 'acceptence'])).toThrow(
    /called acceptence\. The parts: contracts-embedded, acceptance-embedded/,
  );
});

test('the parts run every project of the Jest configuration and no other', async () => {
  const file = join(import.meta.dirname, '..', '..', 'jest.config.js');
  const { default: config } = (await import(file)) as { default: { projects: { displayName: string }[] } };
  const projects = config.projects.map(({ displayName }) => displayName);
  const named = parts.flatMap((part) => (part.kind === 'jest' ? [part.project] : []));
  expect([...new Set(named)].sort()).toEqual([...projects].sort());
});

test('every file that runs on the embedded engine only exists', () => {
  const root = join(import.meta.dirname, '..', '..');
  expect([...embeddedOnly].filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
