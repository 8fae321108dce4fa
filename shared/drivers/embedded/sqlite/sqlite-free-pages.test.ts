import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { published, testMessage, testTime } from '../../../contracts/messages/messages.fixtures.ts';
import { newId } from '../../../testing/builders.ts';
import { migrate } from './migrations.ts';
import { SqliteFile } from './sqlite-file.ts';
import { messageMigrations } from '../messages/sqlite-message-schema.ts';
import { openSqliteMessages } from '../messages/sqlite-messages.ts';

const count = Number(process.env['TOCSIN_EXPIRED'] ?? 20_000);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tocsin-free-pages-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('shrinks a file in short steps after removals, without losing data', async () => {
  const path = join(dir, 'tocsin.db');
  const file = new SqliteFile(path);
  migrate(file, messageMigrations);
  const messages = openSqliteMessages({ file, clock: () => testTime });
  const topicId = newId();
  // Remaining rows are spread over the file, up to its end.
  const lifetime = (at: number) => (at % 10 === 0 ? 1_000_000 : 1);
  for (let at = 0; at < count; at += 5_000) {
    await messages.apply(
      Array.from({ length: 5_000 }, (_, n) =>
        published(at + n, testMessage(topicId, { message: 'x'.repeat(200), expiresAt: testTime + lifetime(at + n) })),
      ),
    );
  }
  const bytes = (): number => {
    file.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return statSync(path).size;
  };
  const before = bytes();
  while ((await messages.removeExpired(testTime + 1, 1_000)).size > 0);
  expect(bytes()).toBe(before);
  let [steps, pages, longestMs] = [0, 0, 0];
  for (;;) {
    const beganAt = performance.now();
    const given = await messages.reclaimSpace();
    longestMs = Math.max(longestMs, performance.now() - beganAt);
    if (given === 0) break;
    expect(given).toBeLessThanOrEqual(64);
    [steps, pages] = [steps + 1, pages + given];
  }
  const after = bytes();
  process.stdout.write(
    `${JSON.stringify({ test: 'space given back', removed: count * 0.9, bytesBefore: before, bytesAfter: after, steps, pages, longestMs: Math.round(longestMs) })}\n`,
  );
  expect(before - after).toBeGreaterThanOrEqual(pages * 4_096);
  expect(after).toBeLessThan(before / 2 + 1_024 * 4_096);
  expect(pages).toBeGreaterThan(0);
  expect(file.db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  expect((await messages.topicStats([topicId])).get(topicId)?.messageCount).toBe(count / 10);
  await messages.close();
  file.close();
});
