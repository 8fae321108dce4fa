import { backUp, restore } from '@tocsin/shared/installation/back-up.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import type { CopyProgress } from '@tocsin/shared/ports/backup.ts';
import { Command } from 'commander';
import { printObject, type PrintOptions } from '../operator/operator-store.ts';
import { reportProgress } from '../output/report-progress.ts';

/** `tocsin backup`: writes the whole store to one file, also while the server runs. */
export function backupCommand(): Command {
  return new Command('backup')
    .description('write the store to a new file; works while a server runs')
    .argument('<file>', 'path of the new file; only its owner can read it')
    .option('--json', 'print one line of JSON')
    .action(async (file: string, options: PrintOptions) => {
      printObject(await backUp(loadConfig(process.env), file, progressLines()), options);
    });
}

/** `tocsin restore`: creates a store from a backup file. */
export function restoreCommand(): Command {
  return new Command('restore')
    .description('restore the store from a backup; requires that no store exists and no server runs')
    .argument('<file>', 'file that `tocsin backup` wrote; not changed')
    .option('--json', 'print one line of JSON')
    .action(async (file: string, options: PrintOptions) => {
      printObject(await restore(loadConfig(process.env), file, progressLines()), options);
    });
}

/** Reports every 10 % on standard error. */
function progressLines(): (progress: CopyProgress) => void {
  let reported = 0;
  return ({ done, total }) => {
    const tenths = Math.floor((10 * done) / Math.max(1, total));
    if (tenths <= reported) return;
    reported = tenths;
    reportProgress(`${reported * 10} % of ${total.toLocaleString('en')} copied`);
  };
}
