import { Command, Option } from 'commander';
import type { ScheduledMessageJson } from '@tocsin/shared/wire/scheduled-message.ts';
import { printRows, type PrintOptions } from '../operator/operator-store.ts';
import { serverOf, withServerOptions, type ServerOptions } from '../options/server-options.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { asText } from '../output/output.ts';
import { ask } from '../server/server.ts';

/** `tocsin scheduled …`: lists and cancels the messages of `tocsin publish --delay` over HTTP. */
export function scheduledCommand(): Command {
  return new Command('scheduled')
    .description('list and cancel scheduled messages')
    .addCommand(withServerOptions(list()))
    .addCommand(withServerOptions(cancel()));
}

interface ScheduledListOptions extends PrintOptions, ServerOptions {
  readonly topic?: string;
  readonly limit: number;
}

function list(): Command {
  return new Command('list')
    .description('list your scheduled messages and those of your topics, and those of the last 7 days')
    .option('--topic <name>', 'only messages of this topic')
    .addOption(new Option('--limit <number>', 'at most 100').default(50).argParser(wholeNumber(1, 100)))
    .option('--json', 'print one line of JSON')
    .action(async ({ topic, limit, json, ...options }: ScheduledListOptions) => {
      const query = new URLSearchParams({ limit: String(limit), ...(topic === undefined ? {} : { topic }) });
      const answer = await ask(serverOf(options), `/api/messages/scheduled?${query}`);
      printRows(
        (await answer.json()) as ScheduledMessageJson[],
        (one) => [one.id, one.scheduled_for, one.reason ?? one.state, one.topic, asText(one)],
        { ...(json === true ? { json } : {}) },
      );
    });
}

function cancel(): Command {
  return new Command('cancel')
    .description('cancel a message that waits for its time')
    .argument('<id>', 'ID of the message, as `publish` printed it')
    .action(async (id: string, options: ServerOptions) => {
      await ask(serverOf(options), `/api/messages/scheduled/${encodeURIComponent(id)}`, { method: 'DELETE' });
    });
}
