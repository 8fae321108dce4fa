import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const { longest, waiting, order } = createRequire(import.meta.url)('./longest-first.cjs') as {
  longest: string[];
  waiting: string[];
  order: (sorted: readonly { path: string }[]) => { path: string }[];
};
const listed = [...longest, ...waiting];

test('lists only existing files, each once', () => {
  expect(listed.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  expect(listed).toHaveLength(new Set(listed).size);
});

const files = (...paths: string[]) => paths.map((path) => ({ path: `/x/${path}` }));
const others = Array.from({ length: 9 }, (_, index) => `tests/other-${index}.test.ts`);

test('runs the slowest files first, and those that wait between the others', () => {
  const [slow, slower, long, longer] = [longest[1]!, longest[0]!, waiting[1]!, waiting[0]!];
  expect(order(files(slow, long, ...others, slower, longer))).toEqual(
    files(slower, slow, longer, ...others.slice(0, 3), long, ...others.slice(3)),
  );
});

test('keeps the order of files that are not listed', () => {
  expect(order(files(...others))).toEqual(files(...others));
  expect(order([])).toEqual([]);
});
