import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { adoptLog } from '../../installation/adopt-log.ts';
import { inspectEngine } from '../../installation/inspect-engine.ts';
import { closers, type Closers } from '../../platform/lifecycle.ts';
import { openLogger } from '../../platform/logger.ts';
import { collector, testRecord } from '../../contracts/event-log/event-log.fixtures.ts';
import { newMessage, newId } from '../../testing/builders.ts';
import { eventually } from '../../testing/eventually.ts';
import { describeWithEngines } from '../../testing/describe-with-engines.ts';
import { newTestPlace, openTestEngine, publish, type TestPlace } from '../../testing/test-engine.ts';
import { removeTopic } from './kafka/kafka-event-log.place.ts';
import { openMongo } from './mongo/mongo-connection.ts';
import { readSeenLog, replaceLog } from './mongo/mongo-log-base.ts';

const log = openLogger('test', 'silent');

describeWithEngines('the log of a store', (engines) => {
  let own: Closers;
  let place: TestPlace;
  beforeEach(() => {
    own = closers();
    place = newTestPlace(engines);
    own.add(() => place.remove());
  });
  afterEach(() => own.closeAll());

  const open = async () => {
    const engine = await openTestEngine(place);
    own.add(() => engine.close());
    return engine;
  };
  const deleteLog = () => removeTopic(engines.kafkaBrokers, place.config.KAFKA_TOPIC);
  const adopt = (isRestored = false) => adoptLog(place.config, { log, isRestored });
  const topic = { id: newId(), name: 'alarms', partition: 1 };
  /** An installation whose store contains three messages of partition 1. */
  const useLog = async () => {
    const engine = await openTestEngine(place);
    for (let at = 0; at < 3; at += 1) await publish(engine, topic, newMessage(topic.id));
    await engine.messages.moveWatermark(1, 2);
    await engine.close();
  };

  test('is recorded at the first start and needs no adoption', async () => {
    await useLog();
    expect(await adopt()).toEqual({ reason: null, bases: [0, 0] });
    expect(await adopt(true)).toEqual({ reason: null, bases: [0, 0] });
    await (await open()).eventLog.ping();
  });

  test('is rejected if recreated, and continues above every offset, from its first record, after adoption', async () => {
    await useLog();
    await deleteLog();
    await expect(open()).rejects.toThrow('its partition 1 ends before offset 0, but the store contains offset 2');
    expect(await adopt()).toEqual({
      reason: 'its partition 1 ends before offset 0, but the store contains offset 2',
      bases: [1_000_000_000, 2_000_000_000],
    });
    const { eventLog, messages } = await open();
    expect(await eventLog.append(1, testRecord(), 'alarms')).toBe(2_000_000_000);
    expect(await eventLog.append(0, testRecord(), 'alarms')).toBe(1_000_000_000);
    expect([await messages.watermark(0), await messages.watermark(1)]).toEqual([999_999_999, 1_999_999_999]);
    for (const startAt of [
      (partition: number) => messages.watermark(partition).then((at) => at + 1),
      () => Promise.resolve(null),
    ]) {
      const reader = collector();
      const consumption = await eventLog.consume({ group: newId(), startAt, onBatch: reader.onBatch });
      await eventually(() =>
        expect([...reader.offsets()].sort((a, b) => a - b)).toEqual([1_000_000_000, 2_000_000_000]),
      );
      await consumption.close();
    }
  });

  test("that a start would reject is a fault in doctor's report, with a remedy", async () => {
    const ofLog = async () => (await inspectEngine(place.config, log)).filter(({ part }) => part === 'log');
    expect(await ofLog()).toMatchObject([{ state: 'ok', text: 'the store knows no log yet' }]);
    await useLog();
    expect(await ofLog()).toMatchObject([
      { state: 'ok', text: expect.stringContaining('is the log that the store knows') },
    ]);
    await deleteLog();
    expect(await ofLog()).toMatchObject([
      { state: 'fault', text: expect.stringMatching(/contains offset 2\. Check .*`tocsin log adopt`/) },
    ]);
    await adopt();
    expect(await ofLog()).toMatchObject([{ state: 'ok' }]);
  });

  test('committed groups restart at the first record of the adopted log', async () => {
    await useLog();
    const engine = await openTestEngine(place);
    const first = collector();
    await engine.eventLog.consume({ group: 'notifier', onBatch: first.onBatch });
    await eventually(() => expect(first.offsets()).toEqual([0, 1, 2]));
    await eventually(async () => expect(await engine.eventLog.lag('notifier')).toBe(0));
    await engine.close();
    await changeClusterId();
    expect((await adopt()).reason).toMatch(/^the store belongs to the Kafka cluster another-one, but this one is /);
    const second = collector();
    await (await open()).eventLog.consume({ group: 'notifier', onBatch: second.onBatch });
    await eventually(() => expect(second.offsets()).toEqual([2_000_000_000, 2_000_000_001, 2_000_000_002]));
  });

  const changeClusterId = async () => {
    const connection = await openMongo(place.config.cluster!.mongoUrl, { log });
    const { known } = await readSeenLog(connection);
    await replaceLog(connection, { clusterId: 'another-one', bases: known!.bases });
    await connection.close();
  };

  test('on another cluster is rejected, cannot be adopted while a node runs, and gets a time-based base after a restore', async () => {
    await useLog();
    const running = await openTestEngine(place);
    await running.eventLog.consume({ group: 'fanout', onBatch: collector().onBatch });
    await changeClusterId();
    await expect(open()).rejects.toThrow(
      /the store belongs to the Kafka cluster another-one, but this one is .*`tocsin log adopt`/,
    );
    await expect(adopt()).rejects.toThrow(
      'A node runs on this log or was killed in the last ten seconds: stop all nodes first',
    );
    await running.close();
    const now = Date.now();
    const { bases } = await adopt(true);
    for (const base of bases) expect(base).toBeGreaterThanOrEqual(now * 1_000);
    await open();
  });

  test('with fewer partitions than the topics use is neither accepted nor adopted', async () => {
    await useLog();
    await deleteLog();
    place = { ...place, config: { ...place.config, KAFKA_PARTITIONS: 1 } };
    await expect(open()).rejects.toThrow("it has 1 partitions, but the store's topics use 2");
    await expect(adopt()).rejects.toThrow(/add partitions/);
  });

  test('recreated under a running node stops its publishes and makes it not ready', async () => {
    const { eventLog } = await open();
    for (let at = 0; at < 3; at += 1) await eventLog.append(0, testRecord(), 'alarms');
    await deleteLog();
    const other = await openTestEngine(place); // creates the topic
    await other.close();
    await eventually(async () => {
      await expect(eventLog.append(0, testRecord(), 'alarms')).rejects.toMatchObject({ code: 'unavailable' });
      await expect(eventLog.ping()).rejects.toMatchObject({
        cause: expect.objectContaining({ message: expect.stringContaining('lost or recreated') }),
      });
    });
  });
});
