import { Command, Option } from 'commander';
import { adoptLogCommand } from './adopt-log.ts';
import { repairLogCommand } from './repair-log.ts';
import { asText, forTerminal, printLine } from '../output/output.ts';
import { ask, patiently, readStream, Refusal, type Server } from '../server/server.ts';
import { filterQuery, withFilterOptions, type FilterOptions } from '../options/filter-options.ts';
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

interface LogRecord {
  readonly offset: number;
  readonly type: string;
  readonly timestamp: string;
  readonly message: { readonly message: string; readonly title: string | null };
}

/** A line about records that expired before they were read. */
interface Gap {
  readonly type: 'gap';
  readonly from_offset: number;
  readonly to_offset: number;
  readonly reason: string;
}

/** The line after records that the filter left out. */
interface Position {
  readonly type: 'position';
  readonly next_offset: number;
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
    .action((topic: string, options: LogOptions) => new LogReader(topic, options).read())
    .helpCommand(false) // a `help` subcommand would hide a topic of that name
    .addCommand(adoptLogCommand())
    .addCommand(repairLogCommand());
}

/** Limits how often a busy topic's consumer offset is stored. */
const storeEveryMs = 1_000;
const patienceMs = 30_000;

class LogReader {
  readonly #path: string;
  readonly #options: LogOptions;
  readonly #server: Server;
  #next: number | undefined;
  #left: number;
  #stored: number | undefined;
  #storedAt = 0;

  constructor(topic: string, options: LogOptions) {
    this.#path = `/api/topics/${encodeURIComponent(topic)}`;
    this.#options = options;
    this.#server = serverOf(options);
    this.#next =
      options.fromTime === undefined && options.consumer === undefined ? (options.fromOffset ?? 0) : undefined;
    this.#left = options.limit ?? Infinity;
  }

  async read(): Promise<void> {
    if (this.#options.consumer !== undefined) await this.#loadOffset();
    const isEndless = this.#options.follow === true;
    await readStream({ open: (signal) => this.#open(signal), read: (texts) => this.#print(texts), isEndless });
    await this.#storeOffset();
  }

  /** A consumer without a stored offset starts at the first record. */
  async #loadOffset(): Promise<void> {
    const answer = await patiently(patienceMs, () =>
      ask(this.#server, this.#consumerPath()).catch((error: unknown) => {
        if (error instanceof Refusal && error.message === 'Consumer not found') return null;
        throw error;
      }),
    );
    this.#next = answer === null ? 0 : ((await answer.json()) as { offset: number }).offset;
  }

  #open(signal: AbortSignal): Promise<Response> {
    const query = new URLSearchParams({
      ...(this.#next === undefined ? { from_time: this.#options.fromTime! } : { from_offset: String(this.#next) }),
      ...filterQuery(this.#options),
    });
    if (this.#options.follow === true) query.set('follow', 'true');
    if (this.#left < Infinity) query.set('limit', String(this.#left));
    return ask(this.#server, `${this.#path}/log?${query}`, { headers: { Accept: 'application/x-ndjson' }, signal });
  }

  async #print(texts: AsyncIterable<string>): Promise<void> {
    let rest = '';
    for await (const text of texts) {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (line !== '') await this.#printRecord(line);
      if (performance.now() - this.#storedAt > storeEveryMs) await this.#storeOffset();
    }
  }

  async #printRecord(line: string): Promise<void> {
    const parsed = JSON.parse(line) as LogRecord | Gap | Position;
    if (isPosition(parsed)) {
      this.#next = parsed.next_offset;
      return;
    }
    if (isGap(parsed)) {
      process.stderr.write(`${asWarning(parsed)}\n`);
      this.#next = parsed.to_offset;
      return;
    }
    await printLine(this.#options.json === true ? line : asLine(parsed));
    this.#next = parsed.offset + 1;
    this.#left -= 1;
  }

  async #storeOffset(): Promise<void> {
    if (this.#options.consumer === undefined || this.#next === this.#stored) return;
    const offset = this.#next!;
    const request = {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ offset }),
    };
    await patiently(patienceMs, () => ask(this.#server, this.#consumerPath(), request));
    [this.#stored, this.#storedAt] = [offset, performance.now()];
  }

  #consumerPath(): string {
    return `${this.#path}/consumers/${encodeURIComponent(this.#options.consumer!)}`;
  }
}

const isPosition = (line: LogRecord | Gap | Position): line is Position => line.type === 'position';
const isGap = (line: LogRecord | Gap): line is Gap => line.type === 'gap';

function asWarning({ from_offset: from, to_offset: to, reason }: Gap): string {
  return forTerminal(`Gap: records from offset ${from} up to ${to} are gone (${reason})`);
}

function asLine({ offset, type, timestamp, message }: LogRecord): string {
  return forTerminal(`${offset}  ${timestamp}  ${type}  ${asText(message)}`);
}
