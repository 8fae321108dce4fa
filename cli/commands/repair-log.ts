import { repairHistory } from '@tocsin/shared/operations/messages/repair-history.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { Command } from 'commander';
import type { PrintOptions } from '../operator/operator-store.ts';
import { reportProgress } from '../output/report-progress.ts';

/** Records between two lines of progress. */
const reportEvery = 100_000;

/** `tocsin log repair`: stores messages of the log that history lacks. To read a topic of this name: `tocsin log Repair`. */
export function repairLogCommand(): Command {
  return new Command('repair')
    .description('compare the log with history, and store messages that history lacks; works while nodes run')
    .option('--dry-run', 'only count the missing messages')
    .option('--json', 'print one line of JSON: {compared, missing}')
    .action(async ({ dryRun = false }: { dryRun?: boolean }, command: Command) => {
      const { json } = command.optsWithGlobals<PrintOptions>(); // the parent command `tocsin log` parses this option
      const config = loadConfig(process.env);
      const engine = await openEngine(config, { clock: systemClock, log: openLogger('cli', 'error') });
      try {
        let reported = 0;
        const result = await repairHistory(
          { ...engine, clock: systemClock },
          {
            isDryRun: dryRun,
            onProgress: ({ compared }) => {
              if (compared - reported < reportEvery) return;
              reported = compared;
              reportProgress(`${compared} records compared`);
            },
          },
        );
        const { compared, missing } = result;
        const outcome = dryRun ? `history lacks ${missing} messages` : `${missing} missing messages stored`;
        process.stdout.write(
          `${json === true ? JSON.stringify(result) : `${compared} records compared, ${outcome}`}\n`,
        );
      } finally {
        await engine.close();
      }
    });
}
