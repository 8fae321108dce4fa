import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/*
 * Loaded before a server that is measured: at SIGUSR2 it writes how late its event loop was since the last one, into the file that
 * LOOP_DELAY_FILES and its pid name.
 */
const resolutionMs = 10;
const files = process.env['LOOP_DELAY_FILES']!;
const delays = monitorEventLoopDelay({ resolution: resolutionMs });
delays.enable();
process.on('SIGUSR2', () => {
  // What is recorded is from one sample to the next, which are as far apart by themselves.
  const p99Ms = Math.max(0, delays.percentile(99) / 1e6 - resolutionMs);
  delays.reset();
  writeFileSync(files + process.pid, JSON.stringify({ p99Ms }));
});
