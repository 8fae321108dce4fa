import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';

const topics = 100_000;
const messagesPerTopic = 3;
const usedMbMax = 512;

test('100,000 topics with readers and messages of 3 kB use less than 512 MB of memory', async () => {
  const program = join(import.meta.dirname, 'feed-memory.child.ts');
  // With threads for garbage, it takes 31 s of CPU time instead of 20 on two cores, and is not faster.
  const args = ['--expose-gc', '--single-threaded-gc', program, String(topics), String(messagesPerTopic)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH: process.env['PATH'] ?? '' } });
  const { delivered, openMb, usedMb } = JSON.parse(stdout) as Record<'delivered' | 'openMb' | 'usedMb', number>;
  printMeasurements('feed memory', { topics, openMb, usedMb });
  expect(delivered).toBe(topics * messagesPerTopic);
  expect(usedMb).toBeLessThan(usedMbMax);
}, 180_000);
