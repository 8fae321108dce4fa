import type { PlacedRecord } from '@tocsin/shared/domain/log-record.ts';
import type { Priority } from '@tocsin/shared/domain/message.ts';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLog } from '@tocsin/shared/platform/log.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { subscriptions } from '@tocsin/shared/stores/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/stores/topics.ts';
import { newMessage, newSubscription, newTopic } from '@tocsin/shared/testing/builders.ts';

/** What is asked of it, as JSON in its first argument; the stores' configuration is its environment. */
export interface SeedLoad {
  readonly ownerId: string;
  readonly messages: number;
  readonly topics: number;
}

/** What it prints: the topic with a tenth of all messages, and the others, which share the rest evenly. */
export interface SeedResult {
  readonly large: string;
  readonly small: readonly string[];
}

const batchSize = 1_000;
const spanMs = 6 * 86_400_000;
const lifetimeMs = 90 * 86_400_000;
const words = 'disk full server backup finished error warning cpu load high memory low network timeout retry database slow query deploy done nightly job failed user login alert pump valve sensor pressure'.split(' ');

/** Stores messages of the last six days by the port, as a fan-out would: by publishing a million would take hours. */
async function seed(load: SeedLoad): Promise<SeedResult> {
  const engine = await openEngine(loadConfig(process.env, '/nonexistent'), { clock: systemClock, log: openLog('bench', 'silent') });
  try {
    const made = await makeTopics(engine, load);
    const begun = Date.now() - spanMs;
    let placed: PlacedRecord[] = [];
    for (let offset = 0; offset < load.messages; offset += 1) {
      const topic = offset % 10 === 0 ? made[0]! : made[1 + (offset * 7_919) % (made.length - 1)]!;
      placed.push(recordAt(topic, offset, begun + Math.floor((offset / load.messages) * spanMs)));
      if (placed.length < batchSize && offset + 1 < load.messages) continue;
      await engine.messages.apply(placed);
      placed = [];
    }
    await engine.messages.moveWatermark(0, load.messages);
    return { large: made[0]!.name, small: made.slice(1).map(({ name }) => name) };
  } finally {
    await engine.close();
  }
}

/** Public topics of the owner, who is subscribed to all of them. */
async function makeTopics({ documents }: Engine, { ownerId, topics: count }: SeedLoad): Promise<Topic[]> {
  const made: Topic[] = [];
  for (let index = 0; index < count; index += 1) {
    const topic = newTopic(ownerId, { name: `bench-${index}` });
    await documents.commit([write.insert(topics, topic), write.insert(subscriptions, newSubscription(ownerId, topic.id))]);
    made.push({ ...topic, version: 1 });
  }
  return made;
}

/** A text of about 200 bytes, the same in every run; a third of them with title and tags. */
function recordAt(topic: Topic, offset: number, timestamp: number): PlacedRecord {
  const word = (at: number) => words[(offset * 31 + at * 17) % words.length]!;
  const isTagged = offset % 3 === 0;
  const message = newMessage(topic.id, {
    message: `${Array.from({ length: 30 }, (_, at) => word(at)).join(' ')} ${offset}`,
    title: isTagged ? `${word(1)} ${word(2)}` : null, tags: isTagged ? [word(3), word(4)] : [],
    priority: (1 + offset % 5) as Priority, timestamp, expiresAt: timestamp + lifetimeMs,
  });
  return { partition: 0, offset, record: { type: 'message', timestamp, message } };
}

process.stdout.write(`${JSON.stringify(await seed(JSON.parse(process.argv[2]!) as SeedLoad))}\n`);
process.exit();
