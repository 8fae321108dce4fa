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

/** Exit codes: 0 done, 1 failed, 2 called wrongly. */
const failed = 1;
const calledWrongly = 2;

const program = new Command('tocsin')
  .description('Topic notifications: publish text over HTTP; read it at once, or later as history and as a log.')
  .version(packageVersion, '--version', 'print the version')
  .addCommand(serveCommand())
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
throwInsteadOfExit(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : calledWrongly;
  } else {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof ConfigError ? calledWrongly : failed;
    process.exit();
  }
}

/** So that the exit code is decided here, for commands of commands too. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const part of command.commands) throwInsteadOfExit(part as Command);
}
