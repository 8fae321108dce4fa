import { repairHistory } from '@tocsin/shared/operations/messages/repair-history.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { Command } from 'commander';
import { commandLogger } from '../output/command-logger.ts';
import type { PrintOptions } from '../operator/operator-store.ts';
import { progressOf } from '../output/report-progress.ts';

/**
 * `tocsin log repair`: stores records of the log that history lacks. To read a topic of this name: `tocsin log Repair`.
 */
export function repairLogCommand(): Command {
  return new Command('repair')
    .description(
      'compare the log with history, and store messages, edits and deletions that history lacks; works while nodes run',
    )
    .option('--dry-run', 'only count the missing records')
    .option('--json', 'print one line of JSON: {compared, missing}')
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const { json } = command.optsWithGlobals<PrintOptions>(); // the parent command `tocsin log` parses this option
      const config = loadConfig(process.env);
      const engine = await openEngine(config, { clock: systemClock, log: commandLogger('error') });
      try {
        const report = progressOf('records compared');
        const result = await repairHistory(
          { ...engine, clock: systemClock },
          { isDryRun: dryRun, onProgress: ({ compared }) => report(compared) },
        );
        const { compared, missing } = result;
        const outcome = dryRun ? `history lacks ${missing} records` : `${missing} missing records stored`;
        process.stdout.write(
          `${json === true ? JSON.stringify(result) : `${compared} records compared, ${outcome}`}\n`,
        );
      } finally {
        await engine.close();
      }
    });
}
