import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { newMessage } from '@tocsin/shared/testing/builders.ts';
import { openTestEngine, type TestPlace } from '@tocsin/shared/testing/test-engine.ts';
import type { TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { builtProgram } from '../../tools/stack/built-program.ts';

const main = fileURLToPath(new URL('../../services/retention/main.ts', import.meta.url));
export const hourMs = 3_600_000;

export const engineOf = (engines: TestEngines | undefined): string => (engines === undefined ? 'embedded' : 'cluster');

/** Starts the retention service alone, which sweeps every second. */
export function startRetention(own: Closers, given: Readonly<Record<string, string>>): ChildProcess {
  const env = { ...process.env, ...given, RETENTION_SCHEDULE: '1s' };
  const child = spawn(process.execPath, [builtProgram(main)], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  own.add(() => void child.kill('SIGKILL'));
  return child;
}

export async function withEngine<T>(
  place: TestPlace,
  clock: () => number,
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = await openTestEngine(place, clock);
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

export async function kill9(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Messages written or read per batch. */
export const pageSize = 1_000;

/** Consecutive offsets of a topic. */
export interface Positions {
  readonly from: number;
  readonly count: number;
}

export interface StoredPositions extends Positions {
  readonly expiresAt: number;
  readonly given?: (offset: number) => Partial<Message>;
}

export function* pagesOf({ from, count }: Positions): Generator<number[]> {
  for (let at = 0; at < count; at += pageSize)
    yield Array.from({ length: Math.min(pageSize, count - at) }, (_, n) => from + at + n);
}

/** Stores messages that were published two hours ago. `given` returns fields of the message at an offset. */
export async function storeMessages(
  engine: Engine,
  topic: Topic,
  { expiresAt, given, ...positions }: StoredPositions,
): Promise<void> {
  const timestamp = Date.now() - 2 * hourMs;
  for (const offsets of pagesOf(positions)) {
    await engine.messages.apply(
      offsets.map((offset) => {
        const message = newMessage(topic.id, { timestamp, expiresAt, ...given?.(offset) });
        return { partition: topic.partition, offset, record: { type: 'message', timestamp, message } };
      }),
    );
  }
}

export interface StoredCount {
  /** May already exclude the messages of a removal that is not committed yet. */
  count(): Promise<number>;
  committedCount(): Promise<number>;
  close(): Promise<void>;
}

/** Counts the stored messages while another process removes them. */
export async function openCount({ config }: TestPlace): Promise<StoredCount> {
  if (config.cluster !== undefined) {
    const client = await MongoClient.connect(config.cluster.mongoUrl);
    // Uses MongoDB's collection statistics: a full count each time would slow the sweep.
    const stored = client.db().collection('messages');
    return {
      count: () => stored.estimatedDocumentCount(),
      committedCount: () => stored.countDocuments(),
      close: () => client.close(),
    };
  }
  const db = new DatabaseSync(join(config.DATA_DIR, 'tocsin.db'), { readOnly: true });
  const select = db.prepare('SELECT count(*) AS count FROM messages');
  const count = async () => (select.get() as { count: number }).count;
  return { count, committedCount: count, close: async () => db.close() };
}
