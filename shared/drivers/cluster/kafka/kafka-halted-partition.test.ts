import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { appendTo, collector } from '../../../contracts/event-log/event-log.fixtures.ts';
import { fanoutGroup, notifierGroup } from '../../../domain/log/log-groups.ts';
import { openLogger } from '../../../platform/logger.ts';
import { showLag } from '../../../runtime/show-lag.ts';
import { describeWithEngines } from '../../../testing/describe-with-engines.ts';
import { eventually } from '../../../testing/eventually.ts';
import { newTopicName, removeTopic, testOptions } from './kafka-event-log.place.ts';
import { openKafkaEventLog } from './kafka-event-log.ts';

describeWithEngines('kafka: a partition that ends before the handled records', ({ kafkaBrokers }) => {
  test('is counted in the metrics of its group, and logged once with the remedy', async () => {
    const topic = newTopicName();
    const lines: Record<string, unknown>[] = [];
    const log = await openKafkaEventLog({
      ...testOptions(kafkaBrokers, topic),
      log: openLogger('test', 'error', {
        write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]),
      }),
    });
    try {
      const metrics = new Registry();
      for (const group of [fanoutGroup, notifierGroup]) showLag(metrics, log, group);
      const halted = async (group: string): Promise<string> =>
        (await metrics.getSingleMetricAsString(`tocsin_${group}_halted_partitions`)).split('\n').at(-1)!;
      await appendTo(log, 2, 0);
      expect(await halted(fanoutGroup)).toBe('tocsin_fanout_halted_partitions 0');
      const startAt = (partition: number) => Promise.resolve(partition === 0 ? 10 : null);
      await log.consume({ group: fanoutGroup, startAt, onBatch: collector().onBatch });
      await eventually(async () => expect(await halted(fanoutGroup)).toBe('tocsin_fanout_halted_partitions 1'));
      expect(await halted(notifierGroup)).toBe('tocsin_notifier_halted_partitions 0');
      expect(lines).toEqual([
        expect.objectContaining({
          level: 'error',
          group: 'fanout',
          partition: 0,
          msg: expect.stringMatching(/^reading of a partition stopped, .*`tocsin log adopt`/),
        }),
      ]);
    } finally {
      await log.close();
      await removeTopic(kafkaBrokers, topic);
    }
  });
});
