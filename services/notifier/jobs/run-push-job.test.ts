import { expect, test } from '@jest/globals';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { Discard } from '@tocsin/shared/ports/job-queue.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { runPushJob } from './run-push-job.ts';

test('discards an invalid job immediately and logs it', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = openLogger('test', 'info', {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  await expect(
    runPushJob({ log } as PushDeps, { id: 'j-1', data: { kind: 'send', messageId: 'm-1' }, attempt: 1 }),
  ).rejects.toThrow(Discard);
  expect(lines).toMatchObject([{ level: 'warn', jobId: 'j-1', reason: 'not a push job' }]);
});
