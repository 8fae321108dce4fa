import { isRecord, nextOffset, type GapEntry, type LogRecord, type TocsinClient } from '@tocsin/client';
import { Command, Option } from 'commander';
import { adoptLogCommand } from './adopt-log.ts';
import { repairLogCommand } from './repair-log.ts';
import { asText, forTerminal, printLine } from '../output/output.ts';
import { clientOf, withLoginHint } from '../server/server.ts';
import { filterOf, withFilterOptions, type FilterOptions } from '../options/filter-options.ts';
import { serverOf, withServerOptions, type ServerOptions } from '../options/server-options.ts';
import { wholeNumber } from '../options/whole-number.ts';

interface LogOptions extends ServerOptions, FilterOptions {
  readonly fromOffset?: number;
  readonly fromTime?: string;
  readonly consumer?: string;
  readonly limit?: number;
  readonly follow?: true;
  readonly json?: true;
}

/** `tocsin log`: prints the records of a topic from a given offset. */
export function logCommand(): Command {
  return withFilterOptions(withServerOptions(new Command('log')))
    .description('print the log of a topic: its messages, edits and deletions in order')
    .addHelpText(
      'after',
      `
Records that have expired before they were read are reported on standard error.

Examples:
  tocsin log backups --from-time 2030-01-31
  tocsin log backups --consumer archive --json >> backups.jsonl
  tocsin log backups --follow --priority-min 4 --tags db,disk`,
    )
    .argument('<topic>')
    .addOption(
      new Option('--from-offset <offset>', 'start at this offset (default: 0)')
        .argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER))
        .conflicts(['fromTime', 'consumer']),
    )
    .addOption(new Option('--from-time <time>', 'start at this time (ISO 8601)').conflicts(['fromOffset', 'consumer']))
    .addOption(
      new Option(
        '--consumer <name>',
        'start at the offset that the server stores under this name, and advance it with each record that was read',
      ).conflicts(['fromOffset', 'fromTime']),
    )
    .addOption(
      new Option('--limit <number>', 'maximum number of records')
        .argParser(wholeNumber(1, Number.MAX_SAFE_INTEGER))
        .conflicts('follow'),
    )
    .option('--follow', 'then print new records until SIGINT or SIGTERM')
    .option('--json', 'print each record as one line of JSON: {offset, type, timestamp, message}')
    .action((topic: string, options: LogOptions) => withLoginHint(serverOf(options), () => printLog(topic, options)))
    .helpCommand(false) // a `help` subcommand would hide a topic of that name
    .addCommand(adoptLogCommand())
    .addCommand(repairLogCommand());
}

async function printLog(topic: string, options: LogOptions): Promise<void> {
  const { consumer, fromTime, fromOffset = 0, limit, follow = false, json } = options;
  const client = clientOf(serverOf(options));
  const stored = consumer === undefined ? null : new StoredOffset(client, { topic, consumer });
  // A consumer without a stored offset starts at the first record.
  const from = stored === null ? (fromTime ?? fromOffset) : ((await stored.load()) ?? 0);
  const entries = client.log(topic, { from, follow, filter: filterOf(options), ...(limit !== undefined && { limit }) });
  for await (const entry of entries) {
    if (isRecord(entry)) await printLine(json === true ? JSON.stringify(entry) : asLine(entry));
    else if (entry.type === 'gap') process.stderr.write(`${asWarning(entry)}\n`);
    await stored?.move(nextOffset(entry));
  }
  await stored?.finish();
}

/** Limits how often a busy topic's consumer offset is stored. */
const storeEveryMs = 1_000;

/** The offset that the server stores for a consumer. */
class StoredOffset {
  readonly #client: TocsinClient;
  readonly #of: { readonly topic: string; readonly consumer: string };
  #next: number | null = null;
  #stored: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<unknown> = Promise.resolve();

  constructor(client: TocsinClient, of: { readonly topic: string; readonly consumer: string }) {
    this.#client = client;
    this.#of = of;
  }

  async load(): Promise<number | null> {
    this.#stored = await this.#client.consumerOffset(this.#of.topic, this.#of.consumer);
    return this.#stored;
  }

  /** Stores the offset within a second. Waits for an earlier store, and throws its error. */
  async move(next: number): Promise<void> {
    this.#next = next;
    if (this.#timer !== undefined) return;
    await this.#storing;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#storing = this.#store();
      // Thrown by the next call.
      this.#storing.catch(() => undefined);
    }, storeEveryMs);
  }

  async finish(): Promise<void> {
    clearTimeout(this.#timer);
    // An earlier offset must not arrive after the last one.
    await this.#storing;
    await this.#store();
  }

  async #store(): Promise<void> {
    const { topic, consumer } = this.#of;
    const offset = this.#next;
    if (offset === null || offset === this.#stored) return;
    await this.#client.setConsumerOffset(topic, consumer, offset);
    this.#stored = offset;
  }
}

function asWarning({ from_offset: from, to_offset: to, reason }: GapEntry): string {
  return forTerminal(`Gap: records from offset ${from} up to ${to} are gone (${reason})`);
}

function asLine({ offset, type, timestamp, message }: LogRecord): string {
  return forTerminal(`${offset}  ${timestamp}  ${type}  ${asText(message)}`);
}
