import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/*
 * Preloaded into a measured server. On SIGUSR2 it writes the event loop delay since the previous signal to the file
 * `$LOOP_DELAY_FILES<pid>`.
 */
const resolutionMs = 10;
const files = process.env['LOOP_DELAY_FILES']!;
const delays = monitorEventLoopDelay({ resolution: resolutionMs });
delays.enable();
process.on('SIGUSR2', () => {
  // The histogram records the time between samples, which includes the sampling interval.
  const p99Ms = Math.max(0, delays.percentile(99) / 1e6 - resolutionMs);
  delays.reset();
  writeFileSync(files + process.pid, JSON.stringify({ p99Ms }));
});
