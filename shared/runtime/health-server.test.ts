import { afterEach, describe, expect, test } from '@jest/globals';
import { Counter, Registry } from 'prom-client';
import { startHealthServer } from './health-server.ts';

describe('the health server', () => {
  let close: () => Promise<void>;
  afterEach(() => close());

  const start = async (status: 'ok' | 'down'): Promise<string> => {
    const metrics = new Registry();
    new Counter({ name: 'tests_total', help: 'Tests', registers: [metrics] }).inc(3);
    const server = await startHealthServer({
      host: '127.0.0.1',
      port: 0,
      checkReadiness: () => Promise.resolve({ status }),
      metrics,
    });
    close = server.close;
    return server.url;
  };

  test('serves liveness, readiness and metrics', async () => {
    const url = await start('ok');
    expect(await (await fetch(`${url}/health/live`)).json()).toEqual({ status: 'ok' });
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    const figures = await fetch(`${url}/metrics`);
    expect(figures.headers.get('content-type')).toContain('text/plain');
    expect(await figures.text()).toContain('tests_total 3');
  });

  test('returns 503 while a component is down', async () => {
    const url = await start('down');
    const ready = await fetch(`${url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'down' }]);
    expect((await fetch(`${url}/health/live`)).status).toBe(200);
  });

  test('returns 404 for other paths', async () => {
    const url = await start('ok');
    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
  });
});
