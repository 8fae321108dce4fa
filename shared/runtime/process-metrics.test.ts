import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { collectProcessMetrics } from './process-metrics.ts';

test('the lag of the event loop excludes the sampling interval and shows a blocked loop', async () => {
  const metrics = new Registry();
  collectProcessMetrics(metrics);
  const lag = async (of: string) => {
    const gauge = metrics.getSingleMetric(`nodejs_eventloop_lag_${of}_seconds`)!;
    await metrics.metrics(); // sets the gauges
    return (await gauge.get()).values[0]!.value;
  };
  let least = Infinity;
  for (let tries = 0; least > 0.025 && tries < 50; tries += 1) {
    await pause(200);
    least = Math.min(least, await lag('min'));
  }
  expect(least).toBeLessThan(0.025);
  await pause(60);
  const until = performance.now() + 400;
  while (performance.now() < until);
  await pause(1);
  const longest = await lag('max');
  expect(longest).toBeGreaterThan(0.3);
});
