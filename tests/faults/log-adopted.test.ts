import { afterAll, expect, test } from '@jest/globals';
import { removeTopic } from '@tocsin/shared/drivers/cluster/kafka/kafka-event-log.place.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { describeWithEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { newTestPlace } from '@tocsin/shared/testing/test-engine.ts';
import type { Stack } from '../../tools/stack/start-stack.ts';
import { startStackAt } from '../support/own-stack.ts';
import { createAccount, createTopic, openStackDocuments, type Account } from '../support/stack.ts';
import { useStreams } from '../support/use-streams.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { expectToGoOn, holdPositions } from './held-positions.ts';
import { runTocsin } from './run-tocsin.ts';

describeWithEngines('a recreated Kafka topic', (engines) => {
  const own = closers();
  afterAll(() => own.closeAll(), 60_000);
  let stack: Stack;
  const streams = useStreams(() => stack.urls);

  const publish = async (account: Account, topic: string, count: number) => {
    const published: { id: string; offset: number }[] = [];
    for (let at = 0; at < count; at += 1) {
      const { status, body } = await account.client.call('POST', `/${topic}`, { text: `message ${at}` });
      expect(status).toBe(200);
      published.push({ id: body.id as string, offset: body.offset as number });
    }
    return published;
  };

  test('is refused until it is adopted, and then every position of clients continues with new messages', async () => {
    const place = newTestPlace(engines);
    own.add(() => place.remove());
    const { KAFKA_BROKERS, KAFKA_TOPIC } = place.env;
    const begunAt = performance.now();
    stack = await startStackAt(place, {
      layout: 'single',
      env: { KAFKA_PARTITIONS: '2', RATE_LIMITS: 'off', EXPO_URL: 'http://127.0.0.1:9' },
    });
    own.add(() => stack.stop());
    const store = await openStackDocuments(stack);
    const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    await store.close();
    const { name: topic } = await createTopic(account, { access_level: 'private' });
    const before = await publish(account, topic, 8);
    const reader = { urls: stack.urls, token: account.client.token! };
    const held = await holdPositions(reader, topic, 5);
    await holdPositions(reader, topic, 8); // everything has passed the fan-out
    expect(await runTocsin(['log', 'adopt'], stack.env)).toEqual({
      code: 0,
      out: 'Nothing to adopt: this is the log that the store knows.\n',
      err: '',
    });

    await stack.server('tocsin').stop();
    await removeTopic(KAFKA_BROKERS!, KAFKA_TOPIC!);
    await expect(stack.server('tocsin').start()).rejects.toThrow(
      /is not the log of this store: its partition \d ends before offset 0, but the store contains offset 7.*`tocsin log adopt`/s,
    );
    const adopted = await runTocsin(['log', 'adopt', '--json'], stack.env);
    expect(adopted).toMatchObject({ code: 0, err: '' });
    const { bases } = JSON.parse(adopted.out) as { bases: number[] };
    await stack.server('tocsin').start();

    const after = await publish(account, topic, 6);
    const offsets = [...before, ...after].map(({ offset }) => offset);
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
    expect(bases).toContain(after[0]!.offset);
    await expectToGoOn(streams, reader, { held, ids: [...before.slice(5), ...after].map(({ id }) => id) });
    printMeasurements('log adopted', { seconds: (performance.now() - begunAt) / 1_000, base: after[0]!.offset });
  }, 180_000);
});
