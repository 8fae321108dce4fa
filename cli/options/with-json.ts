import type { Command } from 'commander';

/** Adds the commands of operators to a group, each with the option `--json`. Returns the group. */
export function withJson(group: Command, commands: readonly Command[]): Command {
  for (const command of commands) group.addCommand(command.option('--json', 'print one line of JSON'));
  return group;
}
