import { randomUUID } from 'node:crypto';
import { Command, Option } from 'commander';
import { readInput } from '../options/read-input.ts';
import { ask, patiently } from '../server/server.ts';
import { serverOf, withServerOptions, type ServerOptions } from '../options/server-options.ts';
import { wholeNumber } from '../options/whole-number.ts';

interface PublishOptions extends ServerOptions {
  readonly title?: string;
  readonly priority?: string;
  readonly tags?: string;
  readonly markdown?: true;
  readonly patience: number;
  readonly json?: true;
}

/** `tocsin publish`: publishes one message. Retries use the same idempotency key, so the message is stored once. */
export function publishCommand(): Command {
  return withServerOptions(new Command('publish'))
    .description('publish a message to a topic')
    .addHelpText(
      'after',
      `
Examples:
  tocsin publish backups 'Nightly backup finished' --tags nightly
  make 2>&1 | tail -20 | tocsin publish builds --title 'The build failed' --priority high`,
    )
    .argument('<topic>')
    .argument('[text]', 'the message; read from standard input if absent')
    .option('--title <title>')
    .option('--priority <1-5>', 'or min, low, default, high, max, urgent')
    .option('--tags <tags>', 'comma-separated')
    .option('--markdown', 'the text is Markdown')
    .addOption(
      new Option('--patience <seconds>', 'how long to retry while the server is unavailable')
        .default(30)
        .argParser(wholeNumber(0, 86_400)),
    )
    .option('--json', 'print the published message as JSON')
    .action(
      async (
        topic: string,
        given: string | undefined,
        { title, priority, tags, markdown, patience, json, ...options }: PublishOptions,
      ) => {
        const server = serverOf(options);
        const message = given ?? (await readInput()).replace(/\r?\n$/, '');
        const request = {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() },
          body: JSON.stringify({ topic, message, title, priority, tags, markdown }),
        };
        const answer = await patiently(patience * 1_000, () => ask(server, '/', request));
        const published = (await answer.json()) as { id: string };
        process.stdout.write(`${json === true ? JSON.stringify(published) : published.id}\n`);
      },
    );
}
