import { Command, Option } from 'commander';
import { readInput } from '../options/read-input.ts';
import type { PublishOptions as PublishFields } from '@tocsin/client';
import { clientOf, withLoginHint } from '../server/server.ts';
import { serverOf, withServerOptions, type ServerOptions } from '../options/server-options.ts';
import { wholeNumber } from '../options/whole-number.ts';

interface PublishOptions extends ServerOptions {
  readonly title?: string;
  readonly priority?: string;
  readonly tags?: string;
  readonly markdown?: true;
  readonly click?: string;
  readonly action?: readonly string[];
  readonly icon?: string;
  readonly ttl?: string;
  readonly silent?: true;
  readonly sequenceId?: string;
  readonly delay?: string;
  readonly timezone: string;
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
  tocsin publish standup 'In ten minutes' --delay 'tomorrow, 9:50am'
  make 2>&1 | tail -20 | tocsin publish builds --title 'The build failed' --priority high`,
    )
    .argument('<topic>')
    .argument('[text]', 'the message; read from standard input if absent')
    .option('--title <title>')
    .option('--priority <1-5>', 'or min, low, default, high, max, urgent')
    .option('--tags <tags>', 'comma-separated')
    .option('--markdown', 'the text is Markdown')
    .option('--click <url>', 'what a tap on the message opens')
    .option(
      '--action <action>',
      "a button, such as 'view, Open, https://…' or 'ack, I have it'; up to three times",
      (action: string, earlier: readonly string[] = []) => [...earlier, action],
    )
    .option('--icon <url>', 'an image at an https URL')
    .option('--ttl <duration>', 'how long the message lives, such as 30m; at most the retention of the topic')
    .option('--silent', 'push without sound, vibration or banner')
    .option('--sequence-id <id>', 'replace the earlier message with this ID')
    .option('--delay <when>', 'publish later: 30m, 2 days, an ISO 8601 time, Unix seconds, or tomorrow, 10am')
    .addOption(
      new Option('--timezone <name>', 'time zone of --delay').default(
        Intl.DateTimeFormat().resolvedOptions().timeZone,
        'that of this machine',
      ),
    )
    .addOption(
      new Option('--patience <seconds>', 'how long to retry while the server is unavailable')
        .default(30)
        .argParser(wholeNumber(0, 86_400)),
    )
    .option('--json', 'print the published message as JSON')
    .action(async (topic: string, given: string | undefined, options: PublishOptions) => {
      const { patience, json } = options;
      const server = serverOf(options);
      const message = given ?? (await readInput()).replace(/\r?\n$/, '');
      const client = clientOf(server, { retryForMs: patience * 1_000 });
      const published = await withLoginHint(server, () => client.publish(topic, message, fieldsOf(options)));
      process.stdout.write(`${json === true ? JSON.stringify(published) : published.id}\n`);
    });
}

function fieldsOf(options: PublishOptions): PublishFields {
  const { title, priority, tags, markdown, click, action, icon, ttl, silent, sequenceId, delay, timezone } = options;
  return {
    title,
    priority,
    tags,
    markdown,
    click,
    actions: action?.join(';'),
    icon,
    ttl,
    silent,
    sequence_id: sequenceId,
    ...(delay === undefined ? {} : { delay, timezone }),
  };
}
