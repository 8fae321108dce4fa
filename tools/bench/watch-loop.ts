import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loopDelayFile } from './loop-delay.ts';

/*
 * Loaded before a server that is measured: at SIGUSR2 it writes how late its event loop was since the last one into TOCSIN_BENCH_DIR.
 */
const resolutionMs = 10;
const dir = process.env['TOCSIN_BENCH_DIR']!;
const delays = monitorEventLoopDelay({ resolution: resolutionMs });
delays.enable();
process.on('SIGUSR2', () => {
  // What is recorded is from one sample to the next, which are as far apart by themselves.
  const p99Ms = Math.max(0, delays.percentile(99) / 1e6 - resolutionMs);
  delays.reset();
  writeFileSync(join(dir, loopDelayFile(process.pid)), JSON.stringify({ p99Ms }));
});
