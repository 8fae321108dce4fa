import { importInto } from '@tocsin/shared/installation/move-installation.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { Command } from 'commander';
import { commandLogger } from '../output/command-logger.ts';
import { reportProgress } from '../output/report-progress.ts';

/** `tocsin import`: imports an export into this empty installation. */
export function importCommand(): Command {
  return new Command('import')
    .description(
      'import an export into this empty installation; resumes an interrupted import. Servers start after verification',
    )
    .argument('<dir>', 'directory that `tocsin export` wrote')
    .action(async (dir: string) => {
      const { parts } = await importInto(loadConfig(process.env), {
        dir,
        log: commandLogger('warn'),
        report: reportProgress,
      });
      process.stdout.write(
        `Imported ${parts.reduce((sum, part) => sum + part.rows, 0)} rows. The servers can be started.\n`,
      );
    });
}
