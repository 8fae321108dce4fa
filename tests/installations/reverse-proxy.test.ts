import { request, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { WebSocket } from 'ws';
import { missingForCertificate } from '../../tools/clients/make-certificate.ts';
import { missingForCaddy, startCaddy } from '../../tools/clients/start-caddy.ts';
import { missingForNginx, startNginx, type ReverseProxy } from '../../tools/clients/start-nginx.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { createAccount, createTopic } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const { stack, store } = await useOwnStack({ TRUST_PROXY: '1' });

const proxies = [
  { name: 'nginx with deploy/nginx.conf', missing: missingForNginx(), start: startNginx },
  { name: 'Caddy with deploy/Caddyfile', missing: missingForCaddy(), start: startCaddy },
];

for (const { name, missing, start } of proxies)
  describeUnlessMissing(`behind ${name}`, [...missing, ...missingForCertificate()], () => {
    let proxy: ReverseProxy;
    let topic: { name: string };
    beforeAll(async () => {
      proxy = await start(new URL(stack.urls[0]!));
      topic = await createTopic(await createAccount(store, { urls: stack.urls }));
    });
    afterAll(() => proxy?.close());

    const call = (
      method: string,
      path: string,
      { body = '', headers = {} }: { body?: string; headers?: RequestOptions['headers'] } = {},
    ) =>
      new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
        const sent = request(
          { host: '127.0.0.1', port: proxy.port, ca: proxy.certificate, method, path, headers, agent: false },
          async (answer) => {
            resolve({ status: answer.statusCode!, headers: answer.headers, body: await text(answer) });
          },
        );
        sent.on('error', reject).end(body);
      });

    test('events and frames arrive immediately, and publishes of maximum length pass', async () => {
      const events: string[] = [];
      const stream = request(
        { host: '127.0.0.1', port: proxy.port, ca: proxy.certificate, path: `/${topic.name}/sse`, agent: false },
        (answer) => {
          answer
            .setEncoding('utf8')
            .on('data', (chunk: string) => events.push(chunk))
            .on('error', () => undefined);
        },
      );
      stream.on('error', () => undefined).end();
      const frames: { type: string; message?: string }[] = [];
      const socket = new WebSocket(`wss://127.0.0.1:${proxy.port}/${topic.name}/ws`, { ca: proxy.certificate });
      socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as (typeof frames)[number]));
      await eventually(() =>
        expect([events.join(''), frames[0]?.type]).toEqual([expect.stringContaining('event: ready'), 'ready']),
      );

      const longest = '🔔'.repeat(4_000);
      expect(await call('POST', `/${topic.name}`, { body: longest })).toMatchObject({ status: 200 });
      await eventually(() => {
        expect(events.join('')).toContain(longest);
        expect(frames[1]).toMatchObject({ type: 'message', message: longest });
      });
      stream.destroy();
      socket.terminate();
    });

    test('ignores forged client addresses', async () => {
      const remaining = async (claimed: string) =>
        Number(
          (await call('GET', '/api/topics/public', { headers: { 'X-Forwarded-For': claimed } })).headers[
            'x-ratelimit-remaining'
          ],
        );
      const first = await remaining('203.0.113.1');
      expect(await remaining('203.0.113.2')).toBe(first - 1);
    });

    test.each(['/metrics', '/admin', '/admin/audit'])('blocks %s in every spelling', async (path) => {
      const spellings = [path, `${path}/`, `/${path}`, path.toUpperCase(), path.replace('m', '%6d'), `${path}?x=1`];
      const statuses = await Promise.all(spellings.map(async (spelling) => (await call('GET', spelling)).status));
      expect(statuses).toEqual(spellings.map(() => 403));
    });

    test('passes health checks, and topics whose names begin like a blocked path', async () => {
      expect(await call('GET', '/health/ready')).toMatchObject({ status: 200 });
      const { name: similar } = await createTopic(await createAccount(store, { urls: stack.urls }), {
        name: `metrics-${topic.name}`,
      });
      expect(await call('POST', `/${similar}`, { body: 'hello' })).toMatchObject({ status: 200 });
    });
  });
