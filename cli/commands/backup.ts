import { backUp, restore } from '@tocsin/shared/installation/back-up.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import type { CopyProgress } from '@tocsin/shared/ports/backup.ts';
import { Command } from 'commander';
import { printObject, type PrintOptions } from '../operator/operator-store.ts';

/** `tocsin backup`: the whole store as one file, while the server runs. */
export function backupCommand(): Command {
  return new Command('backup')
    .description('write the store to a new file; works while a server runs')
    .argument('<file>', 'path of the new file; only its owner can read it')
    .option('--json', 'print one line of JSON')
    .action(async (file: string, options: PrintOptions) => {
      printObject(await backUp(loadConfig(process.env), file, progressLines()), options);
    });
}

/** `tocsin restore`: a store from such a file. */
export function restoreCommand(): Command {
  return new Command('restore')
    .description('restore the store from a backup; requires that no store exists and no server runs')
    .argument('<file>', 'file that `tocsin backup` wrote; not changed')
    .option('--json', 'print one line of JSON')
    .action(async (file: string, options: PrintOptions) => {
      printObject(await restore(loadConfig(process.env), file, progressLines()), options);
    });
}

/** Writes a line to standard error for every tenth that is done. */
function progressLines(): (progress: CopyProgress) => void {
  let told = 0;
  return ({ done, total }) => {
    const tenths = Math.floor((10 * done) / Math.max(1, total));
    if (tenths <= told) return;
    told = tenths;
    process.stderr.write(`${told * 10} % of ${total.toLocaleString('en')} are copied\n`);
  };
}
