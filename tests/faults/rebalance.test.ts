import { randomUUID } from 'node:crypto';
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
import { describeWithEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { newTestPlace } from '@tocsin/shared/testing/test-engine.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { ServerProcess } from '../../tools/stack/server-process.ts';
import type { Stack } from '../../tools/stack/start-stack.ts';
import { startStackAt } from '../support/own-stack.ts';
import { createAccount, createTopic, made, openStackDocuments } from '../support/stack.ts';
import { patienceMs, startLedgerRun } from './ledger-run.ts';

const topicCount = Number(process.env['TOCSIN_REBALANCE_TOPICS'] ?? 12);
const partitions = 6;
/** The publishes before, between and after the changes of the groups. */
const publishesEach = 60;
const groups = [fanoutGroup, notifierGroup];
/**
 * The longest time from the acknowledgement to a stream, with a margin for a loaded machine, but less than the session
 * timeout, which Kafka waits for after a kill unless the other members remove the killed one. After a kill, it also
 * applies to the pushes of later messages, on top of their longest time without a kill.
 */
const delayMsMax = sessionTimeoutMs - heartbeatIntervalMs;
/** The longest time to the push provider. Other notifiers also wait for the claims and jobs of a killed one. */
const pushMsMax = 2.5 * sessionTimeoutMs;
const kinds = ['before', 'joined', 'left', 'killed'] as const;

type Kind = (typeof kinds)[number];

describeWithEngines('a fan-out and a notifier that join and leave', (engines) => {
  const own = closers();
  const place = newTestPlace(engines);
  own.add(() => place.remove());
  /** The time of the first push of each message, by `performance.now()`. */
  const pushedAt = new Map<string, number>();
  let stack: Stack;
  let admin: Admin;
  let topics: string[];

  beforeAll(async () => {
    const onPush = ({ messageId }: { messageId: string | undefined }) => {
      if (!pushedAt.has(messageId!)) pushedAt.set(messageId!, performance.now());
    };
    const expo = await startExpoSimulator({ onPush });
    own.add(() => expo.close());
    const dir = process.env['TOCSIN_FAULTS_DIR']; // shows where the servers' logs are
    stack = await startStackAt(place, {
      ...(dir === undefined ? {} : { dir }),
      apiNodes: 1,
      env: { RATE_LIMITS: 'off', KAFKA_PARTITIONS: String(partitions), LOG_LEVEL: 'info', EXPO_URL: expo.url },
    });
    own.add(() => stack.stop());
    admin = new Kafka({ brokers: engines.kafkaBrokers.split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    own.add(() => admin.disconnect());
    topics = await createSubscribedTopics();
  });
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
        const described = await admin.describeGroups(
          groups.map((group) => kafkaGroupId(stack.env['KAFKA_TOPIC']!, group)),
        );
        expect(described.groups.map(({ state, members: { length } }) => ({ state, length }))).toEqual(
          groups.map(() => ({ state: 'Stable', length: members })),
        );
      },
      { timeoutMs: patienceMs },
    );

  function secondMembers(): ServerProcess[] {
    const dir = mkdtempSync(join(process.env['TOCSIN_FAULTS_DIR'] ?? tmpdir(), 'tocsin-second-'));
    const members = ['fanout', 'notifier'].map((name) => {
      const args = [`services/${name}/main.ts`];
      return new ServerProcess({ name: `${name}2`, args, env: stack.env, logFile: join(dir, `${name}2.log`) });
    });
    own.add(async () => {
      await Promise.all(members.map((member) => member.kill()));
      if (process.env['TOCSIN_FAULTS_DIR'] === undefined) rmSync(dir, { recursive: true });
    });
    return members;
  }

  test('lose and repeat no message of a stream, leave none out of history, and miss no push', async () => {
    await distributed(1);
    const run = startLedgerRun(own, { urls: stack.urls, topics, publishers: 4, pauseMs: 100 });
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
    const changes: { readonly kind: Kind; readonly at: number }[] = [{ kind: 'before', at: performance.now() }];
    const change = async (kind: Kind, act: () => Promise<unknown>, members: number) => {
      const startedAt = performance.now();
      await act();
      // What is published before a process is dead can reach it.
      changes.push({ kind, at: kind === 'killed' ? performance.now() : startedAt });
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

    /** Returns the longest delays, in ms, of messages that arrived after a change of this kind and before the next. */
    const delaysOf = (kind: Kind): { streams: number; pushes: number; earlierPushes: number } => {
      const longest = { streams: 0, pushes: 0, earlierPushes: 0 };
      for (const [id, at] of ackedAt)
        for (const [way, arrived] of [
          ['streams', Math.max(...run.streamArrivals.get(id)!)],
          ['pushes', pushedAt.get(id)!],
        ] as const) {
          const last = changes.findLast((one) => one.at < arrived);
          if (last?.kind !== kind) continue;
          const name = way === 'pushes' && at < last.at ? 'earlierPushes' : way;
          longest[name] = Math.max(longest[name], Math.round(arrived - at));
        }
      return longest;
    };
    const delaysMs = Object.fromEntries(kinds.map((kind) => [kind, delaysOf(kind)])) as Record<
      Kind,
      ReturnType<typeof delaysOf>
    >;
    printMeasurements('rebalance', { ...ledger, delaysMs });
    expect(codes).toEqual([0, 0]);
    expect(attempts.filter(({ status }) => status !== 200)).toEqual([]);
    expect(ledger.streamConnections).toBe(ledger.streams);
    for (const { streams, pushes, earlierPushes } of Object.values(delaysMs)) {
      expect(streams).toBeLessThan(delayMsMax);
      expect(Math.max(pushes, earlierPushes)).toBeLessThan(pushMsMax);
    }
    const { before, joined, left, killed } = delaysMs;
    expect(killed.pushes).toBeLessThan(Math.max(before.pushes, joined.pushes, left.pushes) + delayMsMax);
  }, 240_000);
});
