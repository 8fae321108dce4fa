import { loadConfig, showConfig } from '@tocsin/shared/platform/load-config.ts';
import { Command } from 'commander';
import type { PrintOptions } from '../operator/operator-store.ts';

/** `tocsin config`: prints the effective configuration and its origins. Fails if the configuration is invalid. */
export function configCommand(): Command {
  return new Command('config')
    .description('print every variable with its value and its origin; secrets are masked')
    .option('--json', 'print one line of JSON: [{name, value, origin}]')
    .action(({ json }: PrintOptions) => {
      const shown = showConfig(process.env);
      const lines = shown.map(
        ({ name, value, origin }) => `${`${name}=${value ?? ''}`.padEnd(valueWidth)}  # ${origin}`,
      );
      process.stdout.write(`${json === true ? JSON.stringify(shown) : lines.join('\n')}\n`);
      loadConfig(process.env);
    });
}

const valueWidth = 50;
