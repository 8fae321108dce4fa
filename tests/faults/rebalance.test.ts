import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { fanoutGroup, notifierGroup } from '@tocsin/shared/domain/log/log-groups.ts';
import { kafkaGroupId } from '@tocsin/shared/drivers/cluster/kafka/kafka-group-id.ts';
import { heartbeatIntervalMs, sessionTimeoutMs } from '@tocsin/shared/drivers/cluster/kafka/kafka-session.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import { startEngines } from '../../tools/engines/start-engines.ts';
import { ServerProcess } from '../../tools/stack/server-process.ts';
import { startClusterStack, type Stack } from '../../tools/stack/start-stack.ts';
import { createAccount, createTopic, made, openStackDocuments } from '../support/stack.ts';
import { patienceMs, startLedgerRun } from './ledger-run.ts';

const topicCount = Number(process.env['TOCSIN_REBALANCE_TOPICS'] ?? 12);
const partitions = 6;
/** The publishes before, between and after the changes of the groups. */
const publishesEach = 100;
const groups = [fanoutGroup, notifierGroup];
/**
 * The longest time from the acknowledgement to a stream. Heartbeats tell the group that a member joined or left:
 * without the request to leave, it would wait for the session timeout. After a kill it waits for the session
 * timeout and the next heartbeats; the rest is a margin for a loaded machine.
 */
const delayMsMax = {
  joined: sessionTimeoutMs - heartbeatIntervalMs,
  left: sessionTimeoutMs - heartbeatIntervalMs,
  killed: 2 * sessionTimeoutMs,
};
/** The longest time to the push provider. Other notifiers also wait for the claims and jobs of a killed one. */
const pushMsMax = 2.5 * sessionTimeoutMs;

type Change = keyof typeof delayMsMax;

describeWithOwnEngines('a fan-out and a notifier that join and leave', () => {
  const own = closers();
  /** The time of the first push of each message, by `performance.now()`. */
  const pushedAt = new Map<string, number>();
  let stack: Stack;
  let admin: Admin;
  let topics: string[];

  beforeAll(async () => {
    const onPush = ({ messageId }: { messageId: string | undefined }) => {
      if (!pushedAt.has(messageId!)) pushedAt.set(messageId!, performance.now());
    };
    const [engines, expo] = await Promise.all([
      startEngines({ report: () => undefined }),
      startExpoSimulator({ onPush }),
    ]);
    own.add(() => engines.stop());
    own.add(() => expo.close());
    const mongoUrl = new URL(engines.mongo.url);
    mongoUrl.pathname = '/tocsin';
    const dir = process.env['TOCSIN_FAULTS_DIR']; // shows where the servers' logs are
    stack = await startClusterStack({
      ...(dir === undefined ? {} : { dir }),
      kafkaBrokers: engines.kafka.url,
      mongoUrl: mongoUrl.href,
      redisUrl: engines.redis.url,
      jwtSecret: randomBytes(32).toString('hex'),
      apiNodes: 1,
      env: { RATE_LIMITS: 'off', KAFKA_PARTITIONS: String(partitions), LOG_LEVEL: 'info', EXPO_URL: expo.url },
    });
    own.add(() => stack.stop());
    admin = new Kafka({ brokers: engines.kafka.url.split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    own.add(() => admin.disconnect());
    topics = await createSubscribedTopics();
  }, 120_000);
  afterAll(() => own.closeAll(), 60_000);

  async function createSubscribedTopics(): Promise<string[]> {
    const store = await openStackDocuments(stack);
    const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls }).finally(() => store.close());
    const device = { push_token: newPushToken.expo(), platform: 'expo', device_id: randomUUID() };
    await made(account.client.call('POST', '/api/devices/register', { json: device }));
    return Promise.all(
      Array.from({ length: topicCount }, async () => {
        const { name } = await createTopic(account);
        await made(account.client.call('POST', '/api/subscriptions', { json: { topic_name: name } }));
        return name;
      }),
    );
  }

  /** Resolves when both groups have this number of members and have distributed the partitions. */
  const distributed = (members: number): Promise<unknown> =>
    eventually(
      async () => {
        const described = await admin.describeGroups(groups.map((group) => kafkaGroupId('tocsin.messages', group)));
        expect(described.groups.map(({ state, members: { length } }) => ({ state, length }))).toEqual(
          groups.map(() => ({ state: 'Stable', length: members })),
        );
      },
      { timeoutMs: patienceMs },
    );

  function secondMembers(): ServerProcess[] {
    const dir = mkdtempSync(join(tmpdir(), 'tocsin-second-'));
    const members = ['fanout', 'notifier'].map((name) => {
      const args = [`services/${name}/main.ts`];
      return new ServerProcess({ name: `${name}2`, args, env: stack.env, logFile: join(dir, `${name}2.log`) });
    });
    own.add(async () => {
      await Promise.all(members.map((member) => member.kill()));
      rmSync(dir, { recursive: true });
    });
    return members;
  }

  test('lose and repeat no message of a stream, leave none out of history, and miss no push', async () => {
    await distributed(1);
    const run = startLedgerRun(own, { urls: stack.urls, topics, publishers: 4, pauseMs: 50 });
    const { acked, ackedAt, attempts } = run.publishing;
    /** Resolves when more messages are acknowledged, and all of them have reached the streams and the provider. */
    const more = async () => {
      const due = acked.length + publishesEach;
      await eventually(() => acked.length >= due, { timeoutMs: patienceMs });
      const all = acked.map(({ id }) => id);
      await eventually(() => all.every((id) => pushedAt.has(id) && run.streamArrivals.get(id)?.length === 2), {
        timeoutMs: patienceMs,
      });
    };
    const changes: { readonly kind: Change; readonly at: number }[] = [];
    const change = async (kind: Change, act: () => Promise<unknown>, members: number) => {
      changes.push({ kind, at: performance.now() });
      await act();
      await distributed(members);
      await more();
    };
    const second = secondMembers();
    const each = (act: (member: ServerProcess) => Promise<unknown>) => () => Promise.all(second.map(act));
    await more();
    await change(
      'joined',
      each((member) => member.start()),
      2,
    );
    const codes: (number | null)[] = [];
    await change(
      'left',
      each(async (member) => codes.push(await member.stop())),
      1,
    );
    await change(
      'joined',
      each((member) => member.start()),
      2,
    );
    await change(
      'killed',
      each((member) => member.kill()),
      1,
    );
    await run.publishing.stop();
    await run.caughtUp();
    await eventually(() => expect(acked.filter(({ id }) => !pushedAt.has(id))).toEqual([]), { timeoutMs: patienceMs });
    const ledger = await run.expectComplete();

    /** The longest delay of the messages that arrived after a change of this kind and before the next change. */
    const longestMs = (kind: Change, arrivedAt: (id: string) => number): number =>
      Math.max(
        ...[...ackedAt].flatMap(([id, at]) => {
          const arrived = arrivedAt(id);
          return changes.findLast((one) => one.at < arrived)?.kind === kind ? [Math.round(arrived - at)] : [];
        }),
      );
    const delaysMs = Object.fromEntries(
      (Object.keys(delayMsMax) as Change[]).map((kind) => [
        kind,
        {
          streams: longestMs(kind, (id) => Math.max(...run.streamArrivals.get(id)!)),
          pushes: longestMs(kind, (id) => pushedAt.get(id)!),
        },
      ]),
    ) as Record<Change, { streams: number; pushes: number }>;
    printMeasurements('rebalance', { ...ledger, delaysMs });
    expect(codes).toEqual([0, 0]);
    expect(attempts.filter(({ status }) => status !== 200)).toEqual([]);
    expect(ledger.streamConnections).toBe(ledger.streams);
    for (const [kind, limit] of Object.entries(delayMsMax) as [Change, number][]) {
      expect(delaysMs[kind].streams).toBeLessThan(limit);
      expect(delaysMs[kind].pushes).toBeLessThan(pushMsMax);
    }
  }, 240_000);
});
