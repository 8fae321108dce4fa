import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { WebSocket } from 'ws';
import { createAccount, createTopic, openStackDocuments, testStack, type Account } from './stack.ts';

/** How long access may last after it has ended, with room for a loaded machine. */
const endsWithinMs = 8_000;

describe('a stream ends when its access does', () => {
  let store: OperatorStore;
  let owner: Account;

  beforeAll(async () => {
    store = await openStackDocuments();
    owner = await createAccount(store, { tier: 'ESSENTIALS' });
  });
  afterAll(() => store.close());

  /** Opens an event stream; `ended` resolves with the milliseconds that it lasted from the call of `from`. */
  async function openSse(path: string): Promise<{ text: () => string; ended: Promise<number> }> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(testStack().urls[0]! + path, { agent: false }, resolve).on('error', reject);
    });
    expect(response.statusCode).toBe(200);
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const ended = new Promise<number>((resolve) => response.on('close', () => resolve(performance.now())));
    return { text: () => text, ended };
  }

  function openWebSocket(path: string): { opened: Promise<void>; code: Promise<number> } {
    const socket = new WebSocket(testStack().urls.at(-1)!.replace('http', 'ws') + path);
    return {
      opened: new Promise((resolve, reject) => socket.on('error', reject).once('message', () => resolve())),
      code: new Promise((resolve) => socket.once('close', resolve)),
    };
  }

  test('a revoked topic token ends its event stream and its WebSocket, which is told 4401', async () => {
    const topic = await createTopic(owner, { access_level: 'private' });
    const made = await owner.client.call('POST', `/api/topics/${topic.name}/access-tokens`, { json: { name: 'r', permissions: ['read'] } });
    const sse = await openSse(`/${topic.name}/sse?token=${made.body.token}`);
    const ws = openWebSocket(`/${topic.name}/ws?token=${made.body.token}`);
    await ws.opened;
    const revokedAt = performance.now();
    expect((await owner.client.call('DELETE', `/api/topics/${topic.name}/access-tokens/${made.body.id}`)).status).toBe(204);
    expect(await sse.ended - revokedAt).toBeLessThan(endsWithinMs);
    expect(await ws.code).toBe(4401);
  });

  test('a public topic that becomes private loses its anonymous readers with 4403', async () => {
    const topic = await createTopic(owner);
    const ws = openWebSocket(`/${topic.name}/ws`);
    await ws.opened;
    expect((await owner.client.call('PATCH', `/api/topics/${topic.id}`, { json: { access_level: 'private' } })).status).toBe(200);
    expect(await ws.code).toBe(4403);
  });

  test('a deleted topic ends its streams with 4404', async () => {
    const topic = await createTopic(owner);
    const ws = openWebSocket(`/${topic.name}/ws`);
    await ws.opened;
    expect((await owner.client.call('DELETE', `/api/topics/${topic.id}`)).status).toBe(204);
    expect(await ws.code).toBe(4404);
  });

  test('a frame beyond 64 KiB closes the WebSocket with 1009, and smaller ones are ignored', async () => {
    const topic = await createTopic(owner);
    const socket = new WebSocket(`${testStack().urls[0]!.replace('http', 'ws')}/${topic.name}/ws`);
    await new Promise((resolve) => socket.once('message', resolve));
    const code = new Promise<number>((resolve) => socket.once('close', resolve));
    socket.send('hello');
    socket.send('x'.repeat(64 * 1024 + 1));
    expect(await code).toBe(1009);
  });
});
