import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from '@jest/globals';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { webPushSubscription } from '@tocsin/simulators/web-push-simulator.ts';
import { createAccount, createTopic } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'tocsin-simulate-'));
// The command needs four free ports in a row; if one is taken, the test tries others.
const simulator = await startSimulator();
const { stack, store } = await useOwnStack(simulator.settings);
afterAll(async () => {
  simulator.child.kill('SIGTERM');
  await simulator.ended;
  rmSync(dir, { recursive: true });
});

async function startSimulator() {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const child = spawn(process.execPath, ['cli/main.ts', 'simulate', '--port', String(port), '--dir', dir], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const lines: string[] = [];
    createInterface(child.stdout).on('line', (line) => lines.push(line));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const isReady = await Promise.race([
      ended.then(() => false),
      eventually(() => lines.length >= 14).then(() => true),
    ]);
    if (!isReady) continue;
    const settings = Object.fromEntries(
      lines.map((line) => /^([A-Z_]+)=(.*)$/.exec(line)!.slice(1) as [string, string]),
    );
    return {
      child,
      ended,
      settings,
      pushes: () => lines.slice(14).map((line) => JSON.parse(line) as Record<string, unknown>),
    };
  }
}

test('a server with the printed settings pushes to the simulators, which print each push', async () => {
  const owner = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
  const topic = await createTopic(owner);
  const tokens = {
    ios: newPushToken.ios(),
    android: newPushToken.android(),
    expo: newPushToken.expo(),
    web: webPushSubscription(`https://${simulator.settings['WEB_PUSH_HOSTS']}`),
  };
  for (const [platform, push_token] of Object.entries(tokens)) {
    expect(
      (
        await owner.client.call('POST', '/api/devices/register', {
          json: { platform, push_token, device_id: platform },
        })
      ).status,
    ).toBe(201);
  }
  expect((await owner.client.call('POST', '/api/subscriptions', { json: { topic_name: topic.name } })).status).toBe(
    201,
  );
  expect((await owner.client.call('POST', `/${topic.name}`, { text: 'Nightly backup finished' })).status).toBe(200);
  await eventually(() => expect(simulator.pushes()).toHaveLength(4));
  expect(simulator.pushes()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        provider: 'apns',
        token: tokens.ios,
        aps: expect.objectContaining({ alert: { title: topic.name, body: 'Nightly backup finished' } }),
      }),
      expect.objectContaining({
        provider: 'fcm',
        token: tokens.android,
        notification: { title: topic.name, body: 'Nightly backup finished' },
      }),
      expect.objectContaining({
        provider: 'web',
        token: tokens.web,
        title: topic.name,
        body: 'Nightly backup finished',
      }),
      expect.objectContaining({
        provider: 'expo',
        token: tokens.expo,
        title: topic.name,
        body: 'Nightly backup finished',
      }),
    ]),
  );
});
