import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { metricsText } from './metrics-text.ts';

class CountingRegistry extends Registry {
  renders = 0;
  isBroken = false;

  override async metrics(): Promise<string> {
    this.renders += 1;
    if (this.isBroken) throw new Error('a gauge failed');
    return `render ${this.renders}`;
  }
}

test('a flood of requests renders the metrics at most ten times per second', async () => {
  const registry = new CountingRegistry();
  const render = metricsText(registry);
  const beganAt = performance.now();
  const texts = await Promise.all(Array.from({ length: 10_000 }, render));
  const seconds = Math.ceil((performance.now() - beganAt) / 1_000);
  expect(registry.renders).toBeLessThanOrEqual(10 * (seconds + 1));
  expect(texts.at(-1)).toBe(`render ${registry.renders}`);
});

test('a failed rendering is not kept', async () => {
  const registry = new CountingRegistry();
  const render = metricsText(registry);
  registry.isBroken = true;
  const failed = await Promise.allSettled(Array.from({ length: 20 }, render));
  expect(failed.every(({ status }) => status === 'rejected')).toBe(true);
  registry.isBroken = false;
  expect(await render()).toMatch(/^render /);
});
