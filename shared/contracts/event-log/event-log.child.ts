// Runs as a process that the contract suite kills: `node event-log.child.ts <mode> <module> <address> <group>`.
// append: 16 callers append forever; prints each acknowledged offset as a line of JSON.
// consume: prints the IDs of each batch's records and never completes a batch.
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import type { LogRecord } from '../../domain/messages/log-record.ts';
import type { EventLog } from '../../ports/event-log.ts';
import { noExtras } from '../../domain/messages/message-extras.ts';

const [, , mode, module_, address, group] = process.argv as [string, string, string, string, string, string];
const { openEventLogAt } = (await import(module_)) as { openEventLogAt: (address: string) => Promise<EventLog> };
const log = await openEventLogAt(address);

/**
 * Writes synchronously to the pipe, so that the output is complete before the process can die. Waits for a slow reader.
 */
function print(line: string): void {
  for (;;) {
    try {
      writeSync(1, `${line}\n`);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

const record = (caller: number): LogRecord => ({
  type: 'message',
  timestamp: Date.now(),
  message: {
    id: randomUUID(),
    topicId: 'topic-1',
    message: `from caller ${caller}`,
    title: null,
    priority: 3,
    tags: [],
    timestamp: Date.now(),
    expiresAt: Date.now() + 86_400_000,
    markdown: false,
    isDeleted: false,
    isEdited: false,
    deletedAt: null,
    editedAt: null,
    ...noExtras,
    publishedBy: null,
  },
});

async function appendForEver(caller: number): Promise<never> {
  const partition = caller % log.partitions;
  for (;;) {
    const next = record(caller);
    const offset = await log.append(partition, next, 'alarms');
    print(JSON.stringify({ caller, partition, id: next.message.id, offset }));
  }
}

if (mode === 'append') {
  await Promise.all(Array.from({ length: 16 }, (_, caller) => appendForEver(caller)));
} else {
  await log.consume({
    group,
    batchSizeMax: 5,
    onBatch: ({ records }) => {
      for (const placed of records) print(placed.record.message.id);
      return new Promise(() => {});
    },
  });
  setInterval(() => {}, 60_000); // keeps the process alive, even if the log has no socket
}
