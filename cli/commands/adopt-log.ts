import { adoptLog } from '@tocsin/shared/installation/adopt-log.ts';
import type { AdoptedLog } from '@tocsin/shared/ports/adopted-log.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { Command } from 'commander';
import type { PrintOptions } from '../operator/operator-store.ts';

/** `tocsin log adopt`: goes on with a log that the store does not know. A topic of this name is read as `tocsin log Adopt`. */
export function adoptLogCommand(): Command {
  return new Command('adopt')
    .description(
      'go on with a Kafka topic that was lost, made anew or moved, with positions above every one that was handed out; every node must be stopped',
    )
    .option('--json', 'print one line of JSON: {reason, bases}')
    .action(async (_options: unknown, command: Command) => {
      const { json } = command.optsWithGlobals<PrintOptions>(); // `tocsin log` has an option of this name, and takes it
      const adopted = await adoptLog(loadConfig(process.env), { log: openLogger('cli', 'warn') });
      process.stdout.write(`${json === true ? JSON.stringify(adopted) : asText(adopted)}\n`);
    });
}

function asText({ reason, bases }: AdoptedLog): string {
  if (reason === null)
    return bases.length === 0
      ? 'Nothing to adopt: the log is in the file.'
      : 'Nothing to adopt: this is the log that the store knows.';
  const lines = bases.map((base, partition) => `  partition ${partition}: position = offset in Kafka + ${base}`);
  return [`Adopted: ${reason}.`, 'Positions from now on:', ...lines, 'The nodes can be started.'].join('\n');
}
