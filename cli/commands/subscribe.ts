import { Command } from 'commander';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { asText, forTerminal, printLine } from '../output/output.ts';
import { ask, readStream, type Server } from '../server/server.ts';
import { filterQuery, withFilterOptions, type FilterOptions } from '../options/filter-options.ts';
import { serverOf, withServerOptions, type ServerOptions } from '../options/server-options.ts';

interface SubscribeOptions extends ServerOptions, FilterOptions {
  readonly since?: string;
  readonly json?: true;
}

interface Message {
  readonly topic: string;
  readonly message: string;
  readonly title: string | null;
  readonly priority: number;
  readonly timestamp: string;
}

/** Sorts before every message ID. */
const nilId = '00000000-0000-0000-0000-000000000000';

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
    .action((topics: string[], { since, json, ...options }: SubscribeOptions) =>
      subscribe(topics, { since, json, server: serverOf(options), filter: filterQuery(options) }),
    );
}

interface Subscription {
  readonly since: string | undefined;
  readonly json: true | undefined;
  readonly server: Server;
  /** Parameters of the query. */
  readonly filter: Readonly<Record<string, string>>;
}

function subscribe(topics: readonly string[], { since, json, server, filter }: Subscription): Promise<void> {
  let position = positionOf(topics, since);
  const open = (signal: AbortSignal) => {
    const query = new URLSearchParams({
      topics: topics.join(','),
      ...filter,
      ...(position !== undefined && { since_id: position }),
    });
    return ask(server, `/sse?${query}`, { headers: { Accept: 'text/event-stream' }, signal });
  };
  const read = async (texts: AsyncIterable<string>) => {
    const events: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (event) => void events.push(event) });
    for await (const text of texts) {
      parser.feed(text);
      for (const { id, event, data } of events.splice(0)) {
        if (event?.startsWith('message') === true) {
          const message = JSON.parse(data) as Message;
          await printLine(
            json === true
              ? JSON.stringify({ type: event, position: id ?? position, ...message })
              : asLine(message, event),
          );
        }
        position = id ?? position;
      }
    }
  };
  return readStream({ open, read, isEndless: true });
}

/** Where the streams start. A bare message ID applies to every topic. */
function positionOf(topics: readonly string[], since: string | undefined): string | undefined {
  if (since === 'all') return topics.map((topic) => `${topic}:${nilId}`).join(',');
  return since?.includes(':') === false ? topics.map((topic) => `${topic}:${since}`).join(',') : since;
}

const changes: Record<string, string> = { message_edited: '(edited) ', message_deleted: '(deleted) ' };

function asLine(message: Message, event: string): string {
  const { timestamp, topic, priority } = message;
  return forTerminal(
    `${timestamp}  ${topic}  ${changes[event] ?? ''}${priority === 3 ? '' : `[${priority}] `}${asText(message)}`,
  );
}
