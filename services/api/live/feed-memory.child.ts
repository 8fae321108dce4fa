import { topicChannel, type Envelope } from '@tocsin/shared/domain/messages/channels.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { newTopicFeeds, TestBus } from './topic-feeds.fixtures.ts';

// Prints the memory of a node's feeds: `node --expose-gc feed-memory.child.ts <topics> <messages per topic>`.

const [topicCount, messagesPerTopic] = process.argv.slice(2).map(Number) as [number, number];
const bus = new TestBus();
const feeds = newTopicFeeds({
  bus,
  messages: {
    watermark: () => Promise.resolve(-1),
    lastOffsets: (ids) => Promise.resolve(new Map(ids.map((id) => [id, -1]))),
    records: () => Promise.resolve([]),
  },
});

/** Of live objects and buffers. */
function usedMb(): number {
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

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
    bus.send(topicChannel(topicId), JSON.stringify(envelope));
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
