import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const { longest } = createRequire(import.meta.url)('./longest-first.cjs') as { longest: string[] };

test('lists only existing files', () => {
  expect(longest.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
