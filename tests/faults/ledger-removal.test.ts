import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { ledgerMs, type Claim } from '@tocsin/shared/ports/deliveries.ts';
import type { Write } from '@tocsin/shared/ports/documents.ts';
import { auditBy } from '@tocsin/shared/collections/audit-log.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { percentile, printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { newTestPlace, openTestEngine, type TestPlace } from '@tocsin/shared/testing/test-engine.ts';
import { cpuMs } from '../../tools/bench/process-usage.ts';
import { startClusterStack, startEmbeddedStack, type Stack } from '../../tools/stack/start-stack.ts';
import { createAccount, createTopic, openStackDocuments, type Account } from '../support/stack.ts';
import { openLedgerStore, type LedgerStore } from './open-ledger-store.ts';

const rows = Number(process.env['TOCSIN_LEDGER_ROWS'] ?? 10_000);
const auditEntries = Number(process.env['TOCSIN_AUDIT_ENTRIES'] ?? 1_000);
/** Rows that are too young to be removed. */
const keptRows = 300;
const rowsPerMessage = 1_000;
const rowsPerCall = 100;
const entriesPerCommit = 250;
const dayMs = 86_400_000;
const publishEveryMs = 10;
/** Counting reads the whole ledger, which must not slow the server. */
const countEveryMs = Math.max(20, rows / 500);
/** Publishes after the removal, for comparison. */
const publishesAlone = 100;
const patienceMs = Math.max(120_000, rows * 4);

describe('a day of pushes in the ledger, embedded', () => removalTests(undefined));
describeWithEngines('a day of pushes in the ledger, on a cluster', (engines) => removalTests(engines));

function removalTests(engines: TestEngines | undefined): void {
  let own: Closers;
  let place: TestPlace;
  let stack: Stack;
  beforeEach(() => {
    own = closers();
    place = newTestPlace(engines);
    own.add(() => place.remove());
  });
  afterEach(() => own.closeAll(), 60_000);

  const startServer = async () => {
    const env: Record<string, string> = {
      ...place.env,
      LOG_LEVEL: 'info',
      RATE_LIMITS: 'off',
      RETENTION_SCHEDULE: '1s',
      AUDIT_RETENTION_DAYS: '1',
    };
    stack =
      engines === undefined
        ? await startEmbeddedStack({ env })
        : await startClusterStack({
            layout: 'single',
            kafkaBrokers: env['KAFKA_BROKERS']!,
            mongoUrl: env['MONGO_URL']!,
            redisUrl: env['REDIS_URL']!,
            jwtSecret: env['JWT_SECRET']!,
            env,
          });
    own.add(() => stack.stop());
  };

  test(
    'is removed in batches while publishes continue, and younger rows stay',
    async () => {
      const writeSeconds = await fill(place);
      const store = await openLedgerStore(place);
      own.add(() => store.close());
      const bytes = await store.bytes();
      await startServer();
      const documents = await openStackDocuments(stack);
      own.add(() => documents.close());
      const account = await createAccount(documents, { tier: 'TEAM', urls: stack.urls });
      const { name } = await createTopic(account);
      const operationsBefore = await store.operations();
      const cpuBefore = cpuMs([stack.server('tocsin').pid]);
      const during = await publishUntil(account, name, async () => (await store.count()) <= keptRows);
      await untilSwept(stack, { rows, auditEntries });
      const cpuSeconds = (cpuMs([stack.server('tocsin').pid]) - cpuBefore) / 1_000;
      const operations = (await store.operations()) ?? 0;
      const swept = await sweptOf(stack);
      const alone = await publishUntil(account, name, async (count) => count >= publishesAlone);
      expect(await store.count()).toBe(keptRows);
      expect([...during, ...alone].every(({ status }) => status === 200)).toBe(true);
      printMeasurements('ledger removal', {
        engine: stack.engine,
        rows,
        writeSeconds,
        bytesPerRow: perRow(bytes),
        ...swept,
        rowsPerSecond: rows / swept.ledgerSeconds,
        entriesPerSecond: auditEntries / swept.auditSeconds,
        cpuSeconds,
        operations: operations - (operationsBefore ?? 0),
        publishesDuring: during.length,
        p50During: percentile(
          during.map(({ ms }) => ms),
          0.5,
        ),
        p99During: percentile(
          during.map(({ ms }) => ms),
          0.99,
        ),
        maxDuring: percentile(
          during.map(({ ms }) => ms),
          1,
        ),
        p50Alone: percentile(
          alone.map(({ ms }) => ms),
          0.5,
        ),
        p99Alone: percentile(
          alone.map(({ ms }) => ms),
          0.99,
        ),
      });
    },
    patienceMs,
  );
}

async function fill(place: TestPlace): Promise<number> {
  const engine = await openTestEngine(place);
  try {
    const beganAt = performance.now();
    await fillLedger(engine, { count: rows, from: Date.now() - ledgerMs - dayMs - 60_000 });
    const seconds = (performance.now() - beganAt) / 1_000;
    await fillLedger(engine, { count: keptRows, from: Date.now() - dayMs });
    await fillAuditLog(engine, auditEntries);
    return seconds;
  } finally {
    await engine.close();
  }
}

/** Writes rows of one day as the notifier does: claims and outcomes of pages. */
async function fillLedger({ deliveries }: Engine, { count, from }: { count: number; from: number }): Promise<void> {
  const devices = Array.from({ length: rowsPerMessage * 10 }, () => ({
    userId: newId(),
    deviceId: newId(),
    subscriptionId: newId(),
  }));
  const topicId = newId();
  for (let written = 0; written < count; written += rowsPerMessage) {
    const messageId = newId();
    const now = Math.floor(from + (dayMs * written) / count);
    const first = (written * 7) % (devices.length - rowsPerMessage);
    const claims = devices
      .slice(first, first + Math.min(rowsPerMessage, count - written))
      .map((device): Claim => ({ messageId, topicId, platform: 'ios', ...device }));
    for (let at = 0; at < claims.length; at += rowsPerCall) {
      const page = claims.slice(at, at + rowsPerCall);
      await deliveries.claim(page, { now, staleAfterMs: 60_000 });
      await deliveries.record(
        page.map((claim) => ({ ...claim, status: 'sent', reason: null })),
        now + 200,
      );
    }
  }
}

async function fillAuditLog({ documents }: Engine, count: number): Promise<void> {
  const actors = Array.from({ length: 100 }, newId);
  for (let written = 0; written < count; written += entriesPerCommit) {
    const at = Math.floor(Date.now() - 3 * dayMs + (dayMs * written) / count);
    const writes = Array.from({ length: Math.min(entriesPerCommit, count - written) }, (_, n): Write[] =>
      auditBy(
        { makeId: newId, clock: () => at },
        {
          actor: actors[n % actors.length]!,
          through: 'login',
          credentialId: newId(),
          address: '203.0.113.7',
          userAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
        },
      )({ action: 'login.succeeded', subject: { id: newId() }, details: { method: 'password' } }),
    );
    await documents.commit(writes.flat());
  }
}

interface Publish {
  readonly status: number;
  readonly ms: number;
}

/** Publishes one message after the other, with pauses. */
async function publishUntil(
  { client }: Account,
  topic: string,
  isDone: (publishes: number) => Promise<boolean>,
): Promise<Publish[]> {
  const publishes: Publish[] = [];
  let done = false;
  const checking = (async () => {
    while (!(await isDone(publishes.length))) await pause(countEveryMs);
    done = true;
  })();
  while (!done) {
    const beganAt = performance.now();
    const { status } = await client.call('POST', `/${topic}`, { text: `message ${publishes.length}` });
    publishes.push({ status, ms: performance.now() - beganAt });
    await pause(publishEveryMs);
  }
  await checking;
  return publishes;
}

async function metricsOf(stack: Stack): Promise<(name: string) => number> {
  const text = await (await fetch(`${stack.urls[0]}/metrics`)).text();
  const lines = new Map(text.split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')), line]));
  return (name) => Number(lines.get(name)?.split(' ').at(-1) ?? 0);
}

const removedBy = (sweep: string) => `tocsin_retention_removed_total{sweep="${sweep}"}`;
const secondsOf = (sweep: string) => `tocsin_retention_run_seconds_sum{sweep="${sweep}"}`;

/** Waits until the sweeps have reported everything that they removed. */
async function untilSwept(stack: Stack, expected: { rows: number; auditEntries: number }): Promise<void> {
  await eventually(
    async () => {
      const metric = await metricsOf(stack);
      expect([metric(removedBy('prune-deliveries')), metric(removedBy('remove-old-audit-entries'))]).toEqual([
        expected.rows,
        expected.auditEntries,
      ]);
    },
    { timeoutMs: patienceMs, intervalMs: 200 },
  );
}

async function sweptOf(stack: Stack) {
  const metric = await metricsOf(stack);
  return {
    ledgerSeconds: metric(secondsOf('prune-deliveries')),
    auditSeconds: metric(secondsOf('remove-old-audit-entries')),
    restedSeconds: metric('tocsin_retention_rested_seconds_total'),
  };
}

const perRow = (bytes: Awaited<ReturnType<LedgerStore['bytes']>>) =>
  Object.fromEntries(
    Object.entries(bytes).map(([name, size]) => [
      name,
      Math.round(size / (name.includes('audit') ? auditEntries : rows + keptRows)),
    ]),
  );
