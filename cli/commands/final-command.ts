import type { Command } from 'commander';

/** Adds `--yes`, which commands that cannot be undone require. */
export function finalCommand(command: Command): Command {
  return command.option('--yes', 'confirm: this cannot be undone').hook('preAction', (_, called) => {
    if (called.opts<{ yes?: true }>().yes !== true) called.error('error: this cannot be undone: add --yes');
  });
}
