import { Command, Option } from 'commander';
import { printObject, printRows, type PrintOptions } from '../operator/operator-store.ts';
import { serverOf, withServerOptions, type ServerOptions } from '../options/server-options.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { asText } from '../output/output.ts';
import { ask } from '../server/server.ts';

interface AckOptions extends PrintOptions, ServerOptions {
  readonly note?: string;
  readonly undo?: true;
}

interface AcknowledgementJson {
  readonly message_id: string;
  readonly acknowledged_at: string;
  readonly acknowledged_by: { readonly kind: string; readonly name: string | null };
  readonly note: string | null;
}

/** `tocsin ack`: acknowledges a message over HTTP, so that its pushes stop, or withdraws that. */
export function ackCommand(): Command {
  return withServerOptions(new Command('ack'))
    .description('acknowledge a message, which ends its escalation')
    .addHelpText(
      'after',
      `
Prints the acknowledgement: the first one if someone was faster.

Examples:
  tocsin unacknowledged
  tocsin ack 01a1fdd3-3358-7000-9bff-f8f39a0bcf16 --note 'on my way'
  tocsin ack 01a1fdd3-3358-7000-9bff-f8f39a0bcf16 --undo`,
    )
    .argument('<message-id>')
    .option('--note <text>', 'at most 500 characters, shown on the other devices')
    .addOption(
      new Option('--undo', 'withdraw the acknowledgement: the escalation starts again').conflicts(['note', 'json']),
    )
    .option('--json', 'print one line of JSON')
    .action(async (messageId: string, { note, undo, json, ...options }: AckOptions) => {
      const server = serverOf(options);
      const path = `/api/messages/${encodeURIComponent(messageId)}/ack`;
      if (undo === true) return void (await ask(server, path, { method: 'DELETE' }));
      const answer = await ask(server, path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ note }),
      });
      const given = (await answer.json()) as AcknowledgementJson;
      const { kind, name } = given.acknowledged_by;
      printObject(json === true ? given : { ...given, acknowledged_by: name ?? kind }, json === true ? { json } : {});
    });
}

interface UnacknowledgedOptions extends PrintOptions, ServerOptions {
  readonly topic?: string;
  readonly limit: number;
}

interface WaitingJson {
  readonly id: string;
  readonly timestamp: string;
  readonly topic: string;
  readonly title: string | null;
  readonly message: string;
  readonly repeats: number;
  readonly next_repeat_at: string | null;
  readonly next_step: { readonly number: number; readonly at: string } | null;
}

/** `tocsin unacknowledged`: lists over HTTP the messages that wait for an acknowledgement. */
export function unacknowledgedCommand(): Command {
  return withServerOptions(new Command('unacknowledged'))
    .description('list the messages that wait for an acknowledgement, oldest first')
    .addHelpText('after', '\nPrints ID, time, repeats so far, next repeat, next step, topic and text of each message.')
    .option('--topic <name>', 'only messages of this topic')
    .addOption(new Option('--limit <number>', 'at most 200').default(100).argParser(wholeNumber(1, 200)))
    .option('--json', 'print one line of JSON')
    .action(async ({ topic, limit, json, ...options }: UnacknowledgedOptions) => {
      const query = new URLSearchParams({ limit: String(limit), ...(topic === undefined ? {} : { topic }) });
      const answer = await ask(serverOf(options), `/api/messages/unacknowledged?${query}`);
      printRows(
        (await answer.json()) as WaitingJson[],
        (one) => [
          one.id,
          one.timestamp,
          `repeats: ${one.repeats}`,
          one.next_repeat_at,
          one.next_step === null ? null : `step ${one.next_step.number}: ${one.next_step.at}`,
          one.topic,
          asText(one),
        ],
        json === true ? { json } : {},
      );
    });
}
