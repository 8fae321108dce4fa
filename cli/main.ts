#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { packageVersion } from '@tocsin/shared/package-version.ts';
import { ConfigError } from '@tocsin/shared/platform/load-config.ts';
import { auditCommand } from './audit.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { configCommand } from './config.ts';
import { doctorCommand } from './doctor.ts';
import { exportCommand } from './export.ts';
import { importCommand } from './import.ts';
import { keyCommand } from './key.ts';
import { logCommand } from './log.ts';
import { publishCommand } from './publish.ts';
import { pushCommand } from './push.ts';
import { retentionCommand } from './retention.ts';
import { serveCommand } from './serve.ts';
import { simulateCommand } from './simulate.ts';
import { subscribeCommand } from './subscribe.ts';
import { teamCommand } from './team.ts';
import { topicCommand } from './topic.ts';
import { userCommand } from './user.ts';

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
