import { topicChannel, type Envelope } from '@tocsin/shared/domain/messages/channels.ts';
import { History } from '@tocsin/shared/operations/messages/history.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Messages } from '@tocsin/shared/ports/messages/messages.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { TopicFeeds } from './topic-feeds.ts';

// Prints the memory of a node's feeds: `node --expose-gc feed-memory.child.ts <topics> <messages per topic>`.

const [topicCount, messagesPerTopic] = process.argv.slice(2).map(Number) as [number, number];
const listeners = new Map<string, (payload: string) => void>();
const bus = {
  isConnected: true,
  subscribe(channel: string, listener: (payload: string) => void) {
    listeners.set(channel, listener);
    return Promise.resolve({ close: () => Promise.resolve() });
  },
  onConnected: () => () => undefined,
};
const messages = {
  watermark: () => Promise.resolve(-1),
  lastOffsets: (ids: readonly string[]) => Promise.resolve(new Map(ids.map((id) => [id, -1]))),
  records: () => Promise.resolve([]),
} as unknown as Messages;

/** Of live objects and buffers. */
function usedMb(): number {
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

const feeds = new TopicFeeds({
  bus,
  directory: { peekTopic: () => undefined, topic: () => Promise.resolve(null) },
  history: new History(messages, Date.now),
  clock: Date.now,
  log: openLogger('test', 'silent'),
});
const beforeMb = usedMb();
let delivered = 0;
const topicIds: string[] = [];
for (let index = 0; index < topicCount; index += 1) {
  const topic = newTopic(newId(), { partition: index % 12 });
  topicIds.push(topic.id);
  const { feed } = await feeds.use({ ...topic, version: 1 });
  // Streams of both kinds read every delivery.
  feed.listen((delivery) => (delivered += Math.sign(delivery.sseEventWithId.length + delivery.frame.length)));
}
const openMb = usedMb();
for (let offset = 0; offset < messagesPerTopic; offset += 1) {
  for (const topicId of topicIds) {
    const message = newMessage(topicId, { message: 'x'.repeat(3_000), title: 'Backup', tags: ['a', 'b'] });
    const envelope: Envelope = {
      offset,
      previousOffset: offset === 0 ? null : offset - 1,
      record: { type: 'message', timestamp: message.timestamp, message },
    };
    listeners.get(topicChannel(topicId))!(JSON.stringify(envelope));
  }
  await new Promise((resolve) => setImmediate(resolve));
}
const deadline = performance.now() + 60_000;
while (delivered < topicCount * messagesPerTopic && performance.now() < deadline)
  await new Promise((resolve) => setTimeout(resolve, 100));
process.stdout.write(
  `${JSON.stringify({ topics: topicCount, delivered, openMb: openMb - beforeMb, usedMb: usedMb() - beforeMb })}\n`,
);
process.exit(0);
