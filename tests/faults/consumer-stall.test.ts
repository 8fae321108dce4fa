import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newTopicName, removeTopic, testOptions } from '@tocsin/shared/drivers/cluster/kafka/kafka-event-log.place.ts';
import { openKafkaEventLog } from '@tocsin/shared/drivers/cluster/kafka/kafka-event-log.ts';
import {
  apiKeys,
  startKafkaProxy,
  type ResponseFault,
} from '@tocsin/shared/drivers/cluster/kafka/kafka-proxy.fixtures.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { collector, newGroup, testRecord } from '@tocsin/shared/contracts/event-log/event-log.fixtures.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeWithEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';

const patienceMs = 90_000;
const reactionMsMax = 30_000;

describeWithEngines('a log consumer that stops receiving records', ({ kafkaBrokers }) => {
  let own: Closers;
  beforeEach(() => {
    own = closers();
  });
  afterEach(() => own.closeAll(), 60_000);

  /** Resolves with the delay of a record to a consumer whose connections answer fetches in the given way. */
  const stall = async (fate: ResponseFault): Promise<number> => {
    const topic = newTopicName();
    own.add(() => removeTopic(kafkaBrokers, topic));
    const proxy = await startKafkaProxy(kafkaBrokers.split(',')[0]!);
    own.add(() => proxy.close());
    const log = await openKafkaEventLog(testOptions(proxy.address, topic));
    own.add(() => log.close());
    const reader = collector();
    await log.consume({ group: newGroup(), onBatch: reader.onBatch });
    const first = await log.append(0, testRecord(), 'alarms');
    await eventually(() => reader.offsets().includes(first), { timeoutMs: patienceMs });
    const stalled = proxy.connections;
    let lost = 0;
    // Heartbeats, commits and the requests of its watchdog are answered: the group considers the consumer healthy.
    proxy.onResponse = (apiKey, connection) => {
      if (apiKey !== apiKeys.fetch || connection >= stalled) return 'pass';
      lost += 1;
      return fate;
    };
    await eventually(() => lost > 0, { timeoutMs: patienceMs });
    const appendedAt = performance.now();
    const last = await log.append(0, testRecord(), 'alarms');
    await eventually(() => reader.offsets().includes(last), { timeoutMs: patienceMs });
    const reactionMs = performance.now() - appendedAt;
    expect(reader.offsets()).toEqual([first, last]);
    return reactionMs;
  };

  test('recovers in less than 30 seconds if its fetches get no response or an empty one', async () => {
    const [unansweredMs, emptyMs] = await Promise.all([stall('swallow'), stall('empty')]);
    printMeasurements('consumer stall', { unansweredMs, emptyMs, gaps: 0 });
    expect(Math.max(unansweredMs, emptyMs)).toBeLessThan(reactionMsMax);
  }, 240_000);
});
