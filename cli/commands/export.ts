import { exportFrom } from '@tocsin/shared/installation/move-installation.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { Command } from 'commander';
import { commandLogger } from '../output/command-logger.ts';
import { reportProgress } from '../output/report-progress.ts';

/** `tocsin export`: writes an installation to files for `tocsin import`. */
export function exportCommand(): Command {
  return new Command('export')
    .description('export this installation to a directory. Stop a cluster first; an embedded server may run')
    .argument(
      '<dir>',
      'created if missing. Contains the secret that signs logins, and hashes of passwords and keys; only the owner can read its files',
    )
    .action(async (dir: string) => {
      const { parts } = await exportFrom(loadConfig(process.env), {
        dir,
        log: commandLogger('warn'),
        report: reportProgress,
      });
      const [rows, bytes] = [
        parts.reduce((sum, part) => sum + part.rows, 0),
        parts.reduce((sum, part) => sum + part.bytes, 0),
      ];
      process.stdout.write(`Exported ${rows} rows to ${dir}, ${bytes} bytes.\n`);
    });
}
