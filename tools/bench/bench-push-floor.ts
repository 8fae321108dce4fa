import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { openPushGateways } from '@tocsin/notifier/providers/open-push-gateways.ts';
import { webPushSubscription } from '@tocsin/simulators/web-push-simulator.ts';
import { apnLibrary, bareHttp2, expoLibrary, firebaseLibrary, type SendAll } from './push-floors.ts';
import { startPushSimulators } from './push-simulators.ts';

const usage = `Usage: npm run -s bench:push-floor -- --platform ios|android|expo|web --by http2|library|gateway [--devices N]

What a push costs without the ledger: the CPU time of a process that only sends, through Node's HTTP/2 alone, the provider's
library as its documentation uses it, or the notifier's gateway. Four batches of 100 are under way. Prints one line of JSON.
`;

const batchSize = 100;
const batchesAtOnce = 4;
const latencyMs = 50;
/** Pushes before the measurement, until the code is compiled. */
const warmBatches = 20;

async function main(args: string[]): Promise<number> {
  const {
    values: { platform, by, devices },
  } = parseArgs({
    args,
    options: {
      platform: { type: 'string', default: '' },
      by: { type: 'string', default: '' },
      devices: { type: 'string', default: '20000' },
    },
  });
  const count = Number(devices);
  if (
    !['ios', 'android', 'expo', 'web'].includes(platform) ||
    !['http2', 'library', 'gateway'].includes(by) ||
    (platform === 'expo' && by === 'http2') ||
    (platform === 'web' && by !== 'gateway') ||
    !(count > 0)
  ) {
    process.stderr.write(usage);
    return 2;
  }
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-push-floor-'));
  const simulators = await startPushSimulators(dir, latencyMs);
  try {
    const send = await sender(platform as Platform, by, simulators.env);
    const newToken =
      platform === 'web'
        ? () => webPushSubscription(`https://${simulators.env['WEB_PUSH_HOSTS']}`)
        : newPushToken[platform as Platform];
    const batchOf = (size: number) => Array.from({ length: size }, newToken);
    for (let batch = 0; batch < warmBatches; batch++) await send(batchOf(batchSize));
    const batches = Array.from({ length: Math.ceil(count / batchSize) }, () => batchOf(batchSize));
    const sent = batches.length * batchSize;
    const [before, beganAt] = [process.cpuUsage(), performance.now()];
    await Promise.all(
      Array.from({ length: batchesAtOnce }, async () => {
        for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) await send(batch);
      }),
    );
    const { user, system } = process.cpuUsage(before);
    const perSecond = Math.round(sent / ((performance.now() - beganAt) / 1_000));
    process.stdout.write(
      `${JSON.stringify({ platform, by, pushes: sent, perSecond, cpuUsPerPush: Math.round((user + system) / sent) })}\n`,
    );
    return 0;
  } finally {
    simulators.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function sender(platform: Platform, by: string, env: Readonly<Record<string, string>>): Promise<SendAll> {
  const config = loadConfig({ ...env }, '/nonexistent');
  if (by === 'http2') return bareHttp2(platform as 'ios' | 'android', config);
  const libraries = { ios: apnLibrary, android: firebaseLibrary, expo: expoLibrary };
  if (by === 'library') return libraries[platform as keyof typeof libraries](config);
  const gateway = (await openPushGateways(config, { clock: Date.now, vapidKeys: undefined })).get(platform)!;
  const content = {
    title: 'a topic',
    body: 'the pump stopped',
    category: null,
    data: {
      topic: 'a-topic',
      message_id: 'm-1',
      offset: 1,
      priority: 3,
      click: null,
      actions: [],
      requires_ack: false,
      sent_at: new Date().toISOString(),
      topic_id: 't-1',
      tags: [],
    },
  };
  return async (tokens) => {
    const expiresAt = Date.now() + 3_600_000;
    const results = await gateway.send(
      tokens.map((pushToken) => ({
        pushToken,
        content,
        level: 'default',
        sound: 'default',
        vibrates: true,
        badge: 1,
        collapseId: 'm-1',
        expiresAt,
      })),
    );
    if (results.some(({ kind }) => kind !== 'accepted')) throw new Error('The simulator rejected a push');
  };
}

process.exit(await main(process.argv.slice(2)));
