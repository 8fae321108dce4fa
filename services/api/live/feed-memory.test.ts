import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';

const topics = 25_000;
const messagesPerTopic = 3;
/** The budget of recent messages takes 100 MB of it, whatever the number of topics. */
const usedMbMax = 200;

test('25,000 topics with readers and messages of 3 kB use less than 200 MB of memory', async () => {
  const program = join(import.meta.dirname, 'feed-memory.child.ts');
  // With one thread for garbage, the result differs little between runs.
  const args = ['--expose-gc', '--single-threaded-gc', program, String(topics), String(messagesPerTopic)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH: process.env['PATH'] ?? '' } });
  const { delivered, openMb, usedMb } = JSON.parse(stdout) as Record<'delivered' | 'openMb' | 'usedMb', number>;
  printMeasurements('feed memory', { topics, openMb, usedMb });
  expect(delivered).toBe(topics * messagesPerTopic);
  expect(usedMb).toBeLessThan(usedMbMax);
}, 180_000);
