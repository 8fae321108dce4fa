import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { topics } from '@tocsin/shared/stores/topics.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { newTestPlace, openTestEngine, type TestPlace } from '@tocsin/shared/testing/test-engine.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { printFigures } from '@tocsin/shared/testing/figures.ts';

const main = fileURLToPath(new URL('../../services/retention/main.ts', import.meta.url));
const expiredCount = Number(process.env['TOCSIN_EXPIRED'] ?? 10_000);
const keptCount = 500;
const kills = Number(process.env['TOCSIN_KILLS'] ?? 1);
const hourMs = 3_600_000;
/** The lease of a dead worker's run, and its job's; where a process's transaction cannot be ended, MongoDB keeps it open for a minute and more. */
const patienceMs = 120_000;

describe('retention is killed in the middle of a sweep, embedded', () => killTests(undefined));
describeWithEngines('retention is killed in the middle of a sweep, on a cluster', (engines) => killTests(engines));

function killTests(engines: TestEngines | undefined): void {
  let own: Closers;
  let place: TestPlace;

  beforeEach(() => {
    own = closers();
    place = newTestPlace(engines);
    own.add(() => place.remove());
  });
  afterEach(() => own.closeAll());

  const startRetention = (): ChildProcess => {
    const env = { ...process.env, ...place.env, RETENTION_SCHEDULE: '1s' };
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'inherit', 'inherit'] });
    own.add(() => void child.kill('SIGKILL'));
    return child;
  };
  const withEngine = async <T>(clock: () => number, use: (engine: Engine) => Promise<T>): Promise<T> => {
    const engine = await openTestEngine(place, clock);
    try {
      return await use(engine);
    } finally {
      await engine.close();
    }
  };

  // Three hours ago nothing had expired yet: what has is not stored any more.
  const fill = () => withEngine(() => Date.now() - 3 * hourMs, async (engine) => {
    const both = [await engine.documents.insert(topics, newTopic(newId())), await engine.documents.insert(topics, newTopic(newId(), { isHeld: true }))] as const;
    await store(engine, both[0], { count: expiredCount, from: 0, expiresAt: Date.now() - hourMs });
    await store(engine, both[0], { count: keptCount, from: expiredCount, expiresAt: Date.now() + hourMs });
    await store(engine, both[1], { count: keptCount, from: expiredCount + keptCount, expiresAt: Date.now() - hourMs });
    return both;
  });
  /** Resolves with by how much the counts are off. */
  const driftOf = ([topic, held]: readonly [Topic, Topic]) => withEngine(Date.now, async (engine) => {
    const offsets = async ({ id }: Topic) => (await engine.messages.after(id, { after: -1, upTo: Number.MAX_SAFE_INTEGER, limit: 2 * expiredCount, now: 0 })).map(({ offset }) => offset);
    expect(await offsets(topic)).toEqual(range(expiredCount, keptCount));
    expect(await offsets(held)).toEqual(range(expiredCount + keptCount, keptCount));
    const stats = await engine.messages.topicStats([topic.id, held.id]);
    return [topic, held].reduce((sum, { id }) => sum + Math.abs(stats.get(id)!.messageCount - keptCount), 0);
  });

  test('the next one goes on, and what has expired is removed, nothing else', async () => {
    const both = await fill();
    const stored = await openCount(place);
    own.add(() => stored.close());
    const killedAt: number[] = [];
    for (let kill = 1; kill <= kills; kill += 1) {
      const child = startRetention();
      const target = 2 * keptCount + expiredCount * (1 - kill / (kills + 1));
      await eventually(async () => (await stored.count()) <= target, { timeoutMs: patienceMs, intervalMs: 1 });
      await kill9(child);
      killedAt.push(await stored.count() - 2 * keptCount);
    }
    const child = startRetention();
    const restartedAt = performance.now();
    await eventually(async () => (await stored.count()) <= 2 * keptCount, { timeoutMs: patienceMs });
    const goesOnMs = performance.now() - restartedAt;
    await kill9(child);

    const countDrift = await driftOf(both);
    printFigures('retention killed', { row: 'T1', engine: engineOf(engines), expired: expiredCount, leftAtKill: killedAt, goesOnMs, wronglyDeleted: 0, countDrift });
    for (const left of killedAt) expect(left).toBeGreaterThan(0);
    expect(countDrift).toBe(0);
  }, (kills + 1) * 2 * patienceMs);
}

const engineOf = (engines: TestEngines | undefined): string => (engines === undefined ? 'embedded' : 'cluster');

async function kill9(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, n) => from + n);

/** Stores messages at positions from `from` on. */
async function store(engine: Engine, topic: Topic, of: { count: number; from: number; expiresAt: number }): Promise<void> {
  const timestamp = Date.now() - 2 * hourMs;
  const records = range(of.from, of.count).map((offset) => {
    const message = newMessage(topic.id, { timestamp, expiresAt: of.expiresAt });
    return { partition: topic.partition, offset, record: { type: 'message' as const, timestamp, message } };
  });
  for (let at = 0; at < records.length; at += 1_000) await engine.messages.apply(records.slice(at, at + 1_000));
}

/** Counts the messages that are stored, beside the process that removes them. */
async function openCount({ config }: TestPlace): Promise<{ count: () => Promise<number>; close: () => Promise<void> }> {
  if (config.cluster !== undefined) {
    const client = await MongoClient.connect(config.cluster.mongoUrl);
    // By what MongoDB knows of the collection: going through it each time would take what the sweep works with.
    return { count: () => client.db().collection('messages').estimatedDocumentCount(), close: () => client.close() };
  }
  const db = new DatabaseSync(join(config.DATA_DIR, 'tocsin.db'), { readOnly: true });
  const select = db.prepare('SELECT count(*) AS count FROM messages');
  return { count: async () => (select.get() as { count: number }).count, close: async () => db.close() };
}
