import { Command } from 'commander';
import type { Config } from '@tocsin/shared/platform/load-config.ts';

/** `tocsin serve`: runs the configured roles until SIGTERM or SIGINT. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('run the server: one process on one file, or on Kafka, MongoDB and Redis when their URLs are set')
    .action(async () => {
      // Loaded on demand: no other command needs the servers.
      const [{ runService }, { startRoles }] = await Promise.all([
        import('@tocsin/shared/runtime/run-service.ts'),
        import('./start-roles.ts'),
      ]);
      await runService('tocsin', async (deps) => {
        const running = await startRoles(deps);
        process.stderr.write(banner(deps.config, running.url));
        return running;
      });
    });
}

/** The text printed at start: storage, roles, address and the first steps. */
function banner(config: Config, url: string | undefined): string {
  const place =
    config.cluster === undefined ? `one process on one file, in ${config.DATA_DIR}` : 'on Kafka, MongoDB and Redis';
  const lines = [`Tocsin runs: ${place}`, `Roles: ${config.ROLES.join(', ')}`];
  if (url !== undefined) {
    lines.push(
      `API: ${url}`,
      '',
      'Create a first account:',
      '  npx tocsin user create you@example.org --username you',
      'The README shows the next steps.',
    );
  }
  return `\n${lines.map((line) => `  ${line}`.trimEnd()).join('\n')}\n\n`;
}
