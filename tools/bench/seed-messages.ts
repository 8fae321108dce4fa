import { adoptLog } from '@tocsin/shared/installation/adopt-log.ts';
import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Priority } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newMessage, newSubscription, newTopic } from '@tocsin/shared/testing/builders.ts';
import { applyRecords, skipToLogEnd } from './apply-records.ts';

/** The program's input, as JSON in its first argument. Its environment configures the stores. */
export interface SeedLoad {
  readonly ownerId: string;
  /** Subscribed to only some of the topics. */
  readonly subscriberId: string;
  readonly messages: number;
  readonly topics: number;
}

/** The program's output: the topic with a tenth of all messages, and the others, which share the rest evenly. */
export interface SeedResult {
  readonly large: string;
  readonly small: readonly string[];
  /** Sample messages from the small topics, with their topic names. */
  readonly middles: readonly { readonly topic: string; readonly id: string; readonly timestamp: number }[];
  /** Times of the first and last message, milliseconds since the epoch. */
  readonly begun: number;
  readonly ended: number;
}

/** Limits a transaction: MongoDB runs out of memory with more. Topic counters are written once per batch. */
const batchSize = 4_000;
const spanMs = 6 * 86_400_000;
const lifetimeMs = 90 * 86_400_000;
/** The subscriptions were last read this long before the last message. */
const unreadMs = 3_600_000;
const subscriptionsOfSome = 20;
const middlesMax = 100;
const words =
  'disk full server backup finished error warning cpu load high memory low network timeout retry database slow query deploy done nightly job failed user login alert pump valve sensor pressure'.split(
    ' ',
  );

const config = loadConfig(process.env, '/nonexistent');
const open = () => openEngine(config, { clock: systemClock, log: openLogger('bench', 'silent') });

/**
 * Stores messages of the last six days through the port, as the fan-out does. Publishing a million messages would take
 * hours.
 */
async function seed(load: SeedLoad): Promise<SeedResult> {
  const engine = await open();
  try {
    const ended = Date.now();
    const begun = ended - spanMs;
    const made = await makeTopics(engine, load, { begun, ended });
    const middles: { topic: string; id: string; timestamp: number }[] = [];
    const middleEvery = Math.ceil(load.messages / middlesMax);
    let placed: PlacedRecord[] = [];
    for (let offset = 0; offset < load.messages; offset += 1) {
      const topic = offset % 10 === 0 ? made[0]! : made[1 + ((offset * 7_919) % (made.length - 1))]!;
      const one = recordAt(topic, offset, begun + Math.floor((offset / load.messages) * spanMs));
      placed.push(one);
      if (topic !== made[0] && offset >= middles.length * middleEvery)
        middles.push({ topic: topic.name, id: one.record.message.id, timestamp: one.record.timestamp });
      if (placed.length < batchSize && offset + 1 < load.messages) continue;
      await applyRecords(engine, placed);
      placed = [];
    }
    await engine.messages.moveWatermark(0, load.messages - 1);
    return { large: made[0]!.name, small: made.slice(1).map(({ name }) => name), middles, begun, ended };
  } finally {
    await engine.close();
  }
}

/** Creates public topics of the owner, half of them discoverable, and subscribes the owner to all. */
async function makeTopics(
  { documents }: Engine,
  load: SeedLoad,
  { begun, ended }: Pick<SeedResult, 'begun' | 'ended'>,
): Promise<Topic[]> {
  const made: Topic[] = [];
  const times = { createdAt: begun, lastViewedAt: ended - unreadMs, mobileEnabled: false, webEnabled: false };
  for (let index = 0; index < load.topics; index += 1) {
    const isListed = index % 2 === 0;
    const topic = newTopic(load.ownerId, {
      name: `bench-${index}`,
      createdAt: begun,
      isListed,
      isDiscoverable: isListed,
      description: 'Seeded by the bench',
    });
    const subscribers = index < subscriptionsOfSome ? [load.ownerId, load.subscriberId] : [load.ownerId];
    await documents.commit([
      write.insert(topics, topic),
      ...subscribers.map((userId) => write.insert(subscriptions, newSubscription(userId, topic.id, times))),
    ]);
    made.push({ ...topic, version: 1 });
  }
  return made;
}

/** IDs contain the time of their message, as those of published messages do. */
let idTime = 0;
const makeId = idSource(() => idTime);

/** A text of about 200 bytes, the same in every run. A third of the messages have a title and tags. */
function recordAt(topic: Topic, offset: number, timestamp: number): PlacedRecord {
  const word = (at: number) => words[(offset * 31 + at * 17) % words.length]!;
  const isTagged = offset % 3 === 0;
  idTime = timestamp;
  const message = newMessage(topic.id, {
    id: makeId(),
    message: `${Array.from({ length: 30 }, (_, at) => word(at)).join(' ')} ${offset}`,
    title: isTagged ? `${word(1)} ${word(2)}` : null,
    tags: isTagged ? [word(3), word(4)] : [],
    priority: (1 + (offset % 5)) as Priority,
    timestamp,
    expiresAt: timestamp + lifetimeMs,
  });
  return { partition: 0, offset, record: { type: 'message', timestamp, message } };
}

const asked = JSON.parse(process.argv[2]!) as SeedLoad;
const seeded = await seed(asked);
if (config.cluster === undefined)
  await skipToLogEnd(await open(), asked.messages); // reopened, the engine knows the end of its log
// Kafka contains none of these messages, so its log continues after them.
else await adoptLog(config, { log: openLogger('bench', 'warn') });
process.stdout.write(`${JSON.stringify(seeded)}\n`);
process.exit();
