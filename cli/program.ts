import { Command, CommanderError } from 'commander';
import { packageVersion } from '@tocsin/shared/runtime/package-version.ts';
import { ConfigError } from '@tocsin/shared/platform/load-config.ts';

/** Exit codes: 0 success, 1 failure, 2 wrong usage or configuration. */
const failed = 1;
const wrongUsage = 2;

/** All commands in the order of the help text. Each loads its modules only if it is needed. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serveCommand(),
  login: async () => (await import('./commands/login.ts')).loginCommand(),
  logout: async () => (await import('./commands/login.ts')).logoutCommand(),
  publish: async () => (await import('./commands/publish.ts')).publishCommand(),
  scheduled: async () => (await import('./commands/scheduled.ts')).scheduledCommand(),
  ack: async () => (await import('./commands/ack.ts')).ackCommand(),
  unacknowledged: async () => (await import('./commands/ack.ts')).unacknowledgedCommand(),
  subscribe: async () => (await import('./commands/subscribe.ts')).subscribeCommand(),
  log: async () => (await import('./commands/log.ts')).logCommand(),
  user: async () => (await import('./commands/user.ts')).userCommand(),
  sink: async () => (await import('./commands/sink.ts')).sinkCommand(),
  topic: async () => (await import('./commands/topic/topic.ts')).topicCommand(),
  team: async () => (await import('./commands/team.ts')).teamCommand(),
  key: async () => (await import('./commands/key.ts')).keyCommand(),
  push: async () => (await import('./commands/push.ts')).pushCommand(),
  audit: async () => (await import('./commands/audit.ts')).auditCommand(),
  retention: async () => (await import('./commands/retention.ts')).retentionCommand(),
  archive: async () => (await import('./commands/archive.ts')).archiveCommand(),
  backup: async () => (await import('./commands/backup.ts')).backupCommand(),
  restore: async () => (await import('./commands/backup.ts')).restoreCommand(),
  export: async () => (await import('./commands/export.ts')).exportCommand(),
  import: async () => (await import('./commands/import.ts')).importCommand(),
  simulate: async () => (await import('./commands/simulate.ts')).simulateCommand(),
  config: async () => (await import('./commands/config.ts')).configCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
};

const program = new Command('tocsin')
  .description('Topic notifications: publish text over HTTP; read it live, or later as history and as a log.')
  .version(packageVersion, '--version', 'print the version');
program.addHelpText(
  'after',
  `
With --json, errors are JSON on standard error too: {"error": "…"}.
Exit codes: 0 success, 1 failure, 2 wrong usage or configuration.`,
);
// A text of the program itself may list all commands.
const [name = ''] = process.argv.slice(2);
for (const needed of Object.hasOwn(commands, name) ? [name] : Object.keys(commands))
  program.addCommand(await commands[needed]!());
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
