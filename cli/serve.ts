import { Command } from 'commander';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { loadConfig, type Config } from '@tocsin/shared/platform/load-config.ts';
import { openLog } from '@tocsin/shared/platform/log.ts';
import { runUntilSignal } from '@tocsin/shared/platform/run-process.ts';
import type { RunningRoles } from './start-roles.ts';

/** `tocsin serve`: runs the configured roles until SIGTERM or SIGINT. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('run the server: one process on one file, or on Kafka, MongoDB and Redis when their URLs are set')
    .action(async () => {
      const config = loadConfig(process.env);
      const log = openLog('tocsin', config.LOG_LEVEL);
      // Only here: the other commands start in half the time without the server's packages.
      const { startRoles } = await import('./start-roles.ts');
      const running = await startRoles(config, { clock: systemClock, log });
      runUntilSignal(running, log);
      log.info({ url: running.url }, 'ready');
      process.stderr.write(banner(config, running));
    });
}

/** What a person reads who has just started it: where it is, and the shortest way to a first message. */
function banner(config: Config, running: RunningRoles): string {
  const place = running.engine === 'embedded' ? `one process on one file, in ${config.DATA_DIR}` : 'on Kafka, MongoDB and Redis';
  const lines = [`Tocsin runs: ${place}`, `Roles: ${config.ROLES.join(', ')}`];
  if (running.url !== undefined) {
    lines.push(
      `API: ${running.url}`, '',
      'A first account, without a mail round trip:',
      '  npx tocsin user create you@example.org --username you',
      `Then see the README, or ${running.url}/docs`,
    );
  }
  return `\n${lines.map((line) => `  ${line}`.trimEnd()).join('\n')}\n\n`;
}
