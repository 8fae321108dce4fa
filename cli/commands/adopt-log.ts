import { adoptLog } from '@tocsin/shared/installation/adopt-log.ts';
import type { AdoptedLog } from '@tocsin/shared/ports/adopted-log.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { Command } from 'commander';
import { commandLogger } from '../output/command-logger.ts';
import type { PrintOptions } from '../operator/operator-store.ts';

/** `tocsin log adopt`: adopts a log that the store does not know. To read a topic of this name: `tocsin log Adopt`. */
export function adoptLogCommand(): Command {
  return new Command('adopt')
    .description(
      'adopt a lost, recreated or moved Kafka topic; new offsets start above all offsets in use. Requires that all nodes are stopped',
    )
    .option('--json', 'print one line of JSON: {reason, bases}')
    .action(async (_options: unknown, command: Command) => {
      const { json } = command.optsWithGlobals<PrintOptions>(); // the parent command `tocsin log` parses this option
      const adopted = await adoptLog(loadConfig(process.env), { log: commandLogger('warn') });
      process.stdout.write(`${json === true ? JSON.stringify(adopted) : asText(adopted)}\n`);
    });
}

function asText({ reason, bases }: AdoptedLog): string {
  if (reason === null)
    return bases.length === 0
      ? 'Nothing to adopt: the file contains the log.'
      : 'Nothing to adopt: this is the log that the store knows.';
  const lines = bases.map((base, partition) => `  partition ${partition}: offset = Kafka offset + ${base}`);
  return [`Adopted: ${reason}.`, 'New offsets:', ...lines, 'Start the nodes now.'].join('\n');
}
