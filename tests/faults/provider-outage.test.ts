import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { addSubscribers } from '@tocsin/shared/testing/add-subscribers.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { startRedis } from '../../tools/engines/start-redis.ts';
import type { Stack } from '../../tools/stack/start-stack.ts';
import { startStackOn } from '../support/own-stack.ts';
import { createAccount, createTopic, made, openStackDocuments, type Account } from '../support/stack.ts';

const outageHours = Number(process.env['TOCSIN_PROVIDER_OUTAGE_HOURS'] ?? 2);
const [minuteMs, hourMs] = [60_000, 3_600_000];
/** The clocks of the servers jump by this in each step of the outage. It is longer than any pause of a retry. */
const stepMs = 10 * minuteMs;
const steps = Math.round((outageHours * hourMs) / stepMs);
/** Messages in each step, by kind of topic. */
const perStep = { normal: 18, urgent: 2, short: 2 } as const;
type Kind = keyof typeof perStep;
const kinds = Object.keys(perStep) as Kind[];
const messagesPerStep = Object.values(perStep).reduce((sum, count) => sum + count, 0);
/** The retention of the topic whose messages expire during the outage. */
const shortMs = 20 * minuteMs;
const devicesEach = 20;
/** `PUSH_RETRY_SECONDS` by default. */
const retryForMs = hourMs;
/** The longest pause while the provider is down, with a margin. */
const pauseMsMax = 2 * minuteMs;
/** Messages this much younger than the retry period are pushed: the clocks jump after the return too. */
const marginMs = 2 * stepMs;
/** Redis' memory for a job with the IDs of its devices, and for the connections and indexes of the services. */
const [jobBytesMax, otherBytesMax] = [10_000, 8_000_000];
/** The response time of the provider: of its first response after the outage, and of all others. */
const latencyOfMs = { probe: 2_000, other: 100 } as const;
const patienceMs = 120_000;
const jumpingClock = new URL('jumping-clock.ts', import.meta.url).href;

interface Published {
  readonly id: string;
  readonly kind: Kind;
  readonly at: number;
  readonly expiresAt: number;
}

interface Push {
  readonly messageId: string;
  readonly token: string;
  /** By the clock of the servers. */
  readonly at: number;
}

describe('a push provider that is down for hours, embedded', () => outageTest(undefined));
describeWithEngines('a push provider that is down for hours, on a cluster', (engines) => outageTest(engines));

function outageTest(engines: TestEngines | undefined): void {
  let own: Closers;
  let stack: Stack;
  let expo: ExpoSimulator;
  let redis: Redis | undefined;
  let aheadMs: number;
  let latencyMs: number;
  let pushes: Push[];
  const now = () => Date.now() + aheadMs;

  beforeEach(async () => {
    own = closers();
    [aheadMs, latencyMs, pushes, redis] = [0, latencyOfMs.other, [], undefined];
    expo = await startExpoSimulator({
      isForgetful: true,
      get latencyMs() {
        return latencyMs;
      },
      onPush: ({ messageId, token }) => pushes.push({ messageId: messageId!, token, at: now() }),
    });
    own.add(() => expo.close());
    const server = engines === undefined ? undefined : await startRedis({ report: () => undefined });
    if (server !== undefined) {
      own.add(() => server.stop());
      const client = (redis = new Redis(server.url));
      own.add(() => client.disconnect());
    }
    const clocksDir = mkdtempSync(join(tmpdir(), 'tocsin-clocks-'));
    own.add(() => rmSync(clocksDir, { recursive: true }));
    stack = await startStackOn(
      engines === undefined ? undefined : { ...engines, redisUrl: server!.url },
      {
        RATE_LIMITS: 'off',
        EXPO_URL: expo.url,
        RETENTION_DAYS_FREE: String(shortMs / 24 / hourMs),
        NODE_OPTIONS: `--import=${jumpingClock}`,
        CLOCKS_DIR: clocksDir,
      },
      'services',
    );
    own.add(() => stack.stop());
  });
  afterEach(() => own.closeAll(), 60_000);

  function jump(ms: number): void {
    aheadMs += ms;
    for (const { pid } of stack.servers) {
      writeFileSync(join(stack.env['CLOCKS_DIR']!, String(pid)), String(aheadMs));
      process.kill(pid, 'SIGUSR2');
    }
  }

  /** The number of push jobs by state. */
  async function jobs(): Promise<Record<'waiting' | 'active' | 'delayed' | 'failed', number>> {
    const metrics = await (await fetch(`${stack.urls[0]}/metrics`)).text();
    const sum = (state: string): number =>
      [
        ...metrics.matchAll(
          new RegExp(`^tocsin_queue_jobs\\{(?=.*"push-(?:normal|urgent)").*"${state}".*\\} (\\d+)$`, 'gm'),
        ),
      ]
        .map(([, count]) => Number(count))
        .reduce((total, count) => total + count, 0);
    return { waiting: sum('waiting'), active: sum('active'), delayed: sum('delayed'), failed: sum('failed') };
  }

  const redisBytes = async (): Promise<number> =>
    redis === undefined ? 0 : Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))![1]);

  /** A topic of each kind with subscribers, and a function that publishes to them. */
  async function openTopics(): Promise<(kind: Kind) => Promise<Published>> {
    const store = await openStackDocuments(stack);
    own.add(() => store.close());
    const topics = new Map<Kind, { readonly account: Account; readonly name: string }>();
    for (const kind of kinds) {
      const account = await createAccount(store, { tier: kind === 'short' ? 'FREE' : 'TEAM', urls: stack.urls });
      const { id, name } = await createTopic(account);
      await addSubscribers(
        store.documents,
        id,
        Array.from({ length: devicesEach }, () => ({})),
      );
      topics.set(kind, { account, name });
    }
    return async (kind) => {
      const { account, name } = topics.get(kind)!;
      const headers = { 'X-Priority': kind === 'urgent' ? '5' : '3' };
      const { id, timestamp, expires_at } = await made(
        account.client.call('POST', `/${name}`, { text: 'late', headers }),
      );
      return {
        id: id as string,
        kind,
        at: Date.parse(timestamp as string),
        expiresAt: Date.parse(expires_at as string),
      };
    };
  }

  async function publishStep(publish: (kind: Kind) => Promise<Published>): Promise<Published[]> {
    const wanted = kinds.flatMap((kind) => Array.from({ length: perStep[kind] }, () => kind));
    return Promise.all(wanted.map(publish));
  }

  test(
    'Redis holds the jobs of one retry period; afterwards each unexpired push of it is sent once, urgent ones first',
    async () => {
      const publish = await openTopics();
      const before = await publish('normal');
      await eventually(() => pushes.length === devicesEach, { timeoutMs: patienceMs });
      expect(pushes[0]!.messageId).toBe(before.id);
      const bytesBefore = await redisBytes();
      expo.script('*', { kind: 'status', status: 503 });
      const published: Published[] = [];
      let [jobsMax, bytesMax] = [0, 0];
      for (let step = 0; step < steps; step += 1) {
        published.push(...(await publishStep(publish)));
        const isYounger = (ms: number) => (message: Published) => message.at + ms > now();
        // Those of expired messages end when they run.
        const keptMin = published
          .filter(({ kind }) => kind !== 'short')
          .filter(isYounger(retryForMs - pauseMsMax)).length;
        const keptMax = published.filter(isYounger(retryForMs + stepMs)).length + messagesPerStep;
        // Every message has failed and waits, and older ones were given up.
        await eventually(
          async () => {
            const { waiting, active, delayed } = await jobs();
            expect({ waiting, active }).toEqual({ waiting: 0, active: 0 });
            expect(delayed).toBeGreaterThanOrEqual(keptMin);
            expect(delayed).toBeLessThanOrEqual(keptMax);
            jobsMax = Math.max(jobsMax, delayed);
          },
          { timeoutMs: patienceMs, intervalMs: 250 },
        );
        bytesMax = Math.max(bytesMax, await redisBytes());
        if (step < steps - 1) jump(stepMs);
      }
      expect(pushes).toHaveLength(devicesEach);
      const { failed } = await jobs();

      const returnedAt = now();
      const due = published.filter(({ kind, at }) => kind !== 'short' && at > returnedAt - retryForMs + marginMs);
      const reached = () => new Set(pushes.map(({ messageId, token }) => `${messageId} ${token}`));
      const dueLeft = () => {
        const counts = Map.groupBy(pushes, ({ messageId }) => messageId);
        return due.filter(({ id }) => (counts.get(id)?.length ?? 0) < devicesEach);
      };
      expo.script('*', { kind: 'ok' });
      // A worker whose clock jumps while it waits for the next job notices the due ones when a job arrives.
      const jumpAndWake = async (ms: number) => {
        jump(ms);
        await Promise.all([publish('urgent'), publish('normal')]);
      };
      // All jobs run during the probe. Urgent ones are deferred until it ends, and the others for a pause.
      latencyMs = latencyOfMs.probe;
      await jumpAndWake(minuteMs);
      await eventually(() => pushes.length > devicesEach, { timeoutMs: patienceMs });
      latencyMs = latencyOfMs.other;
      await eventually(() => dueLeft().every(({ kind }) => kind !== 'urgent'), { timeoutMs: patienceMs });
      await jumpAndWake(2 * minuteMs);
      await eventually(
        async () => {
          if (dueLeft().length === 0) return true;
          const { waiting, active, delayed } = await jobs();
          if (waiting + active === 0 && delayed > 0) await jumpAndWake(minuteMs);
          return false;
        },
        { timeoutMs: patienceMs, intervalMs: 500 },
      );

      const kindOf = new Map(published.map(({ id, kind }) => [id, kind]));
      const expiresAt = new Map(published.map((message) => [message.id, message.expiresAt]));
      const order = pushes.map(({ messageId }) => kindOf.get(messageId));
      const normalBefore = order.slice(0, order.lastIndexOf('urgent')).filter((kind) => kind === 'normal').length;
      const normal = order.filter((kind) => kind === 'normal').length;
      const expired = pushes.filter(({ messageId, at }) => at > (expiresAt.get(messageId) ?? Infinity));
      const twice = pushes.length - reached().size;
      printMeasurements('provider down for hours', {
        engine: stack.engine,
        hours: outageHours,
        messages: published.length,
        jobsMax,
        deadLetters: failed,
        redisGrowthMb: (bytesMax - bytesBefore) / 1e6,
        due: due.length * devicesEach,
        sent: pushes.length - devicesEach,
        normalBefore,
        normal,
        newestFirst: newestFirstShare(pushes, published),
        expired: expired.length,
        twice,
      });
      expect({ expired, twice }).toEqual({ expired: [], twice: 0 });
      expect(normalBefore).toBeLessThan(normal / 2);
      expect(bytesMax - bytesBefore).toBeLessThan(otherBytesMax + (jobsMax + failed) * jobBytesMax);
    },
    patienceMs * 3 + steps * 20_000,
  );
}

/** Of each two pushes of one priority to a device, the share of which the newer message arrived first. */
function newestFirstShare(pushes: readonly Push[], published: readonly Published[]): number {
  const messages = new Map(published.map((message) => [message.id, message]));
  let [pairs, newestFirst] = [0, 0];
  for (const ofDevice of Map.groupBy(pushes, ({ token }) => token).values()) {
    const times = ofDevice.flatMap(({ messageId }) => messages.get(messageId)?.at ?? []);
    for (const [index, at] of times.entries())
      for (const later of times.slice(index + 1)) [pairs, newestFirst] = [pairs + 1, newestFirst + Number(at > later)];
  }
  return newestFirst / pairs;
}
