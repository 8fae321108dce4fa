import type { Message, TopicFilter } from '@tocsin/client';
import { Command } from 'commander';
import { asText, forTerminal, printLine } from '../output/output.ts';
import { clientOf, withLoginHint, type Server } from '../server/server.ts';
import { filterOf, withFilterOptions, type FilterOptions } from '../options/filter-options.ts';
import { serverOf, withServerOptions, type ServerOptions } from '../options/server-options.ts';

interface SubscribeOptions extends ServerOptions, FilterOptions {
  readonly since?: string;
  readonly json?: true;
}

/** `tocsin subscribe`: prints new messages of topics; resumes after a lost connection without gaps or duplicates. */
export function subscribeCommand(): Command {
  return withFilterOptions(withServerOptions(new Command('subscribe')))
    .description('print new messages of topics until SIGINT or SIGTERM; resumes after a lost connection')
    .addHelpText(
      'after',
      `
Examples:
  tocsin subscribe backups builds
  tocsin subscribe alarms --since all --json
  tocsin subscribe alarms --priority-min 4`,
    )
    .argument('<topic...>', 'up to 100 topics')
    .option('--since <position>', '`all` stored messages, a message ID, or a `position` that --json printed')
    .option('--json', 'print each event as one line of JSON: {type, position, …message fields}')
    .action((topics: string[], { since, json, ...options }: SubscribeOptions) => {
      const server = serverOf(options);
      return withLoginHint(server, () => subscribe(topics, { since, json, server, filter: filterOf(options) }));
    });
}

interface Subscription {
  readonly since: string | undefined;
  readonly json: true | undefined;
  readonly server: Server;
  readonly filter: TopicFilter;
}

async function subscribe(topics: readonly string[], { since, json, server, filter }: Subscription): Promise<void> {
  const events = clientOf(server).subscribe(topics, { filter, ...(since !== undefined && { since }) });
  for await (const event of events) {
    if (!('message' in event)) continue;
    const { type, position, message } = event;
    await printLine(json === true ? JSON.stringify({ type, position, ...message }) : asLine(message, type));
  }
}

const changes: Record<string, string> = { message_edited: '(edited) ', message_deleted: '(deleted) ' };

function asLine(message: Message, event: string): string {
  const { timestamp, topic, priority } = message;
  return forTerminal(
    `${timestamp}  ${topic}  ${changes[event] ?? ''}${priority === 3 ? '' : `[${priority}] `}${asText(message)}`,
  );
}
