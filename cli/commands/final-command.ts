import type { Command } from 'commander';

/** Adds the option without which a command that cannot be undone does nothing. */
export function finalCommand(command: Command): Command {
  return command.option('--yes', 'really: this cannot be undone').hook('preAction', (_, called) => {
    if (called.opts<{ yes?: true }>().yes !== true) called.error('error: this cannot be undone: add --yes');
  });
}
