#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { packageVersion } from '@tocsin/shared/runtime/package-version.ts';
import { ConfigError } from '@tocsin/shared/platform/load-config.ts';
import { auditCommand } from './commands/audit.ts';
import { backupCommand, restoreCommand } from './commands/backup.ts';
import { configCommand } from './commands/config.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { importCommand } from './commands/import.ts';
import { keyCommand } from './commands/key.ts';
import { loginCommand, logoutCommand } from './commands/login.ts';
import { logCommand } from './commands/log.ts';
import { publishCommand } from './commands/publish.ts';
import { pushCommand } from './commands/push.ts';
import { retentionCommand } from './commands/retention.ts';
import { serveCommand } from './commands/serve.ts';
import { simulateCommand } from './commands/simulate.ts';
import { subscribeCommand } from './commands/subscribe.ts';
import { teamCommand } from './commands/team.ts';
import { topicCommand } from './commands/topic.ts';
import { userCommand } from './commands/user.ts';

/** Exit codes: 0 success, 1 failure, 2 wrong usage or configuration. */
const failed = 1;
const wrongUsage = 2;

const program = new Command('tocsin')
  .description('Topic notifications: publish text over HTTP; read it live, or later as history and as a log.')
  .version(packageVersion, '--version', 'print the version')
  .addCommand(serveCommand())
  .addCommand(loginCommand())
  .addCommand(logoutCommand())
  .addCommand(publishCommand())
  .addCommand(subscribeCommand())
  .addCommand(logCommand())
  .addCommand(userCommand())
  .addCommand(topicCommand())
  .addCommand(teamCommand())
  .addCommand(keyCommand())
  .addCommand(pushCommand())
  .addCommand(auditCommand())
  .addCommand(retentionCommand())
  .addCommand(backupCommand())
  .addCommand(restoreCommand())
  .addCommand(exportCommand())
  .addCommand(importCommand())
  .addCommand(simulateCommand())
  .addCommand(configCommand())
  .addCommand(doctorCommand());
program.addHelpText(
  'after',
  `
With --json, errors are JSON on standard error too: {"error": "…"}.
Exit codes: 0 success, 1 failure, 2 wrong usage or configuration.`,
);
const isJson = process.argv.slice(2, argumentsEnd()).includes('--json');
throwInsteadOfExit(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : wrongUsage;
    if (isJson && error.exitCode !== 0) printError(error.message.replace(/^error: /, ''));
  } else {
    printError(error instanceof Error ? error.message : String(error));
    process.exitCode = error instanceof ConfigError ? wrongUsage : failed;
    process.exit();
  }
}

function printError(message: string): void {
  process.stderr.write(`${isJson ? JSON.stringify({ error: message }) : message}\n`);
}

/** The index of `--`, after which there are no options. */
function argumentsEnd(): number | undefined {
  const index = process.argv.indexOf('--');
  return index === -1 ? undefined : index;
}

/** Makes Commander throw, in subcommands too, so that this file chooses the exit code and the format of errors. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  if (isJson) command.configureOutput({ outputError: () => undefined });
  for (const part of command.commands) throwInsteadOfExit(part as Command);
}
