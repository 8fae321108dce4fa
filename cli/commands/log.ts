import { Command, Option } from 'commander';
import { adoptLogCommand } from './adopt-log.ts';
import { asText, forTerminal, printLine } from '../output/output.ts';
import { ask, patiently, readStream, Refusal } from '../server/server.ts';
import { withServerOptions, type ServerOptions } from '../options/server-options.ts';
import { wholeNumber } from '../options/whole-number.ts';

interface LogOptions extends ServerOptions {
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

/** `tocsin log`: a topic's records from any position on. */
export function logCommand(): Command {
  return withServerOptions(new Command('log'))
    .description('print the log of a topic: its messages, edits and deletions in order')
    .addHelpText(
      'after',
      `
Examples:
  tocsin log backups --from-time 2030-01-31
  tocsin log backups --consumer archive --json >> backups.jsonl`,
    )
    .argument('<topic>')
    .addOption(
      new Option('--from-offset <offset>', 'from this position on; 0 without any')
        .argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER))
        .conflicts(['fromTime', 'consumer']),
    )
    .addOption(new Option('--from-time <time>', 'from this time on (ISO 8601)').conflicts(['fromOffset', 'consumer']))
    .addOption(
      new Option(
        '--consumer <name>',
        'from the position that the server keeps under this name, which goes on with what was printed',
      ).conflicts(['fromOffset', 'fromTime']),
    )
    .addOption(
      new Option('--limit <number>', 'at most so many records')
        .argParser(wholeNumber(1, Number.MAX_SAFE_INTEGER))
        .conflicts('follow'),
    )
    .option('--follow', 'go on with what comes, until it is ended')
    .option('--json', 'print each record as a line of JSON: {offset, type, timestamp, message}')
    .action((topic: string, options: LogOptions) => new LogReader(topic, options).read())
    .helpCommand(false) // it would hide a topic of that name
    .addCommand(adoptLogCommand());
}

/** Harm prevented: a request for every record that a busy topic gets. */
const keepEveryMs = 1_000;
const patienceMs = 30_000;

class LogReader {
  readonly #path: string;
  readonly #options: LogOptions;
  #next: number | undefined;
  #left: number;
  #kept: number | undefined;
  #keptAt = 0;

  constructor(topic: string, options: LogOptions) {
    this.#path = `/api/topics/${encodeURIComponent(topic)}`;
    this.#options = options;
    this.#next =
      options.fromTime === undefined && options.consumer === undefined ? (options.fromOffset ?? 0) : undefined;
    this.#left = options.limit ?? Infinity;
  }

  async read(): Promise<void> {
    if (this.#options.consumer !== undefined) await this.#loadPosition();
    const isEndless = this.#options.follow === true;
    await readStream({ open: (signal) => this.#open(signal), read: (texts) => this.#print(texts), isEndless });
    await this.#keep();
  }

  /** A consumer without a position begins at the first record. */
  async #loadPosition(): Promise<void> {
    const answer = await patiently(patienceMs, () =>
      ask(this.#options, this.#consumerPath()).catch((error: unknown) => {
        if (error instanceof Refusal && error.message === 'Consumer not found') return null;
        throw error;
      }),
    );
    this.#next = answer === null ? 0 : ((await answer.json()) as { offset: number }).offset;
  }

  #open(signal: AbortSignal): Promise<Response> {
    const query = new URLSearchParams(
      this.#next === undefined ? { from_time: this.#options.fromTime! } : { from_offset: String(this.#next) },
    );
    if (this.#options.follow === true) query.set('follow', 'true');
    if (this.#left < Infinity) query.set('limit', String(this.#left));
    return ask(this.#options, `${this.#path}/log?${query}`, { headers: { Accept: 'application/x-ndjson' }, signal });
  }

  async #print(texts: AsyncIterable<string>): Promise<void> {
    let rest = '';
    for await (const text of texts) {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (line !== '') await this.#printRecord(line);
      if (performance.now() - this.#keptAt > keepEveryMs) await this.#keep();
    }
  }

  async #printRecord(line: string): Promise<void> {
    const record = JSON.parse(line) as LogRecord;
    await printLine(this.#options.json === true ? line : asLine(record));
    this.#next = record.offset + 1;
    this.#left -= 1;
  }

  async #keep(): Promise<void> {
    if (this.#options.consumer === undefined || this.#next === this.#kept) return;
    const offset = this.#next!;
    const request = {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ offset }),
    };
    await patiently(patienceMs, () => ask(this.#options, this.#consumerPath(), request));
    [this.#kept, this.#keptAt] = [offset, performance.now()];
  }

  #consumerPath(): string {
    return `${this.#path}/consumers/${encodeURIComponent(this.#options.consumer!)}`;
  }
}

function asLine({ offset, type, timestamp, message }: LogRecord): string {
  return forTerminal(`${offset}  ${timestamp}  ${type}  ${asText(message)}`);
}
