import { Command, InvalidArgumentError, Option } from 'commander';
import { sinkKinds } from '@tocsin/shared/domain/sinks/sink.ts';
import type { SinkDeliveryJson, SinkJson } from '@tocsin/shared/wire/sink.ts';
import { printObject, printRows, type PrintOptions } from '../operator/operator-store.ts';
import { serverOf, withServerOptions, type ServerOptions } from '../options/server-options.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { ask, type Server } from '../server/server.ts';
import { topicPath } from '../server/topic-path.ts';
import { finalCommand } from './final-command.ts';

type Options = PrintOptions & ServerOptions;

/** `tocsin sink …`: manages the sinks of a topic over HTTP. */
export function sinkCommand(): Command {
  const sink = new Command('sink').description('send the records of a topic to URLs').addHelpText(
    'after',
    `
A sink is given by its ID, or by its name if no other sink of the topic has it.

Examples:
  tocsin sink create backups https://hooks.example.com/tocsin --name tickets --priority-min 4
  tocsin sink test backups tickets
  tocsin sink rewind backups tickets --offset 0`,
  );
  const change = (name: string, description: string, change: object) =>
    ofSink(name, description).action((topic: string, named: string, options: Options) =>
      patch(topic, named, change, options),
    );
  const printing = [
    list(),
    create(),
    change('pause', 'send nothing until the sink is resumed', { state: 'paused' }),
    change('resume', 'continue a paused or disabled sink where it stopped', { state: 'active' }),
    rewind(),
    test(),
    deliveries(),
  ];
  for (const command of printing) command.option('--json', 'print one line of JSON');
  for (const command of [...printing, remove()]) sink.addCommand(withServerOptions(command));
  return sink;
}

const topicArgument = ['<topic>', 'name of the topic, case-insensitive'] as const;

const ofSink = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .argument(...topicArgument)
    .argument('<sink>', 'ID or name of the sink');

function list(): Command {
  return new Command('list')
    .description('list the sinks of a topic that you manage, oldest first')
    .argument(...topicArgument)
    .action(async (topic: string, options: Options) => {
      const server = serverOf(options);
      printRows(
        await findAll(server, await sinksPath(server, topic)),
        (one) => [
          one.id,
          one.name,
          one.kind,
          one.state_reason === null ? one.state : `${one.state}: ${one.state_reason}`,
          `offset: ${one.offset}`,
          `lag: ${one.lag}`,
          `delivered: ${one.delivered}`,
          `skipped: ${one.skipped}`,
          one.url,
        ],
        options,
      );
    });
}

interface CreateOptions extends Options {
  readonly name: string;
  readonly kind: string;
  readonly priorityMin?: number;
  readonly tags?: string;
  readonly search?: string;
  readonly from?: string | number;
  readonly header?: Readonly<Record<string, string>>;
}

function create(): Command {
  return new Command('create')
    .description('create a sink and print it with its signing secret, which is shown only once')
    .argument(...topicArgument)
    .argument('<url>', 'of the receiver')
    .requiredOption('--name <name>')
    .addOption(new Option('--kind <kind>', 'the format of the requests').choices(sinkKinds).default('webhook'))
    .addOption(
      new Option('--priority-min <1-5>', 'only messages of at least this priority').argParser(wholeNumber(1, 5)),
    )
    .option('--tags <tags>', 'only messages with one of these tags, separated by commas')
    .option('--search <text>', 'only messages whose title or text contains this text, case-insensitive')
    .addOption(
      new Option('--from <start>', 'now (default), start, or an offset: the first record').argParser(readStart),
    )
    .addOption(
      new Option('--header <header>', "an additional header, such as 'X-Env: prod'; can be repeated").argParser(
        readHeader,
      ),
    )
    .action(async (topic: string, url: string, options: CreateOptions) => {
      const { name, kind, priorityMin, tags, search, from, header } = options;
      const server = serverOf(options);
      const filter = { priority_min: priorityMin, tags: tags?.split(','), q: search };
      const answer = await ask(
        server,
        await sinksPath(server, topic),
        asJson('POST', { name, kind, url, filter, from, headers: header }),
      );
      print((await answer.json()) as SinkJson, options);
    });
}

const readStart = (text: string): string | number =>
  text === 'now' || text === 'start' ? text : wholeNumber(0, Number.MAX_SAFE_INTEGER)(text);

function readHeader(text: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, name, value] = /^([^:]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError("It must be like 'X-Env: prod'.");
  return { ...earlier, [name]: value! };
}

function rewind(): Command {
  return ofSink('rewind', 'send the records from an offset on, again if they were sent')
    .addOption(
      new Option('--offset <offset>', 'the offset of the first record')
        .argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER))
        .makeOptionMandatory(),
    )
    .action((topic: string, named: string, { offset, ...options }: Options & { offset: number }) =>
      patch(topic, named, { offset }, options),
    );
}

function test(): Command {
  return ofSink('test', 'send a test to the receiver; `deliveries` shows its result').action(
    async (topic: string, named: string, options: Options) => {
      const server = serverOf(options);
      const answer = await ask(server, `${await sinkPath(server, topic, named)}/test`, { method: 'POST' });
      printObject((await answer.json()) as object, options);
    },
  );
}

function deliveries(): Command {
  return ofSink('deliveries', 'list the last deliveries, newest first')
    .addOption(new Option('--limit <number>', 'at most 1000').default(100).argParser(wholeNumber(1, 1_000)))
    .action(async (topic: string, named: string, options: Options & { limit: number }) => {
      const server = serverOf(options);
      const path = `${await sinkPath(server, topic, named)}/deliveries?limit=${options.limit}`;
      printRows(
        (await (await ask(server, path)).json()) as SinkDeliveryJson[],
        (one) => [
          one.at,
          one.offset === null ? 'test' : `offset: ${one.offset}`,
          one.outcome,
          one.error ?? String(one.status),
          `attempts: ${one.attempts}`,
          `${one.milliseconds} ms`,
          one.webhook_id,
        ],
        options,
      );
    });
}

function remove(): Command {
  return finalCommand(ofSink('delete', 'delete a sink with its deliveries')).action(
    async (topic: string, named: string, options: ServerOptions) => {
      const server = serverOf(options);
      await ask(server, await sinkPath(server, topic, named), { method: 'DELETE' });
    },
  );
}

const sinksPath = async (server: Server, topic: string): Promise<string> => `${await topicPath(server, topic)}/sinks`;

const findAll = async (server: Server, path: string): Promise<SinkJson[]> =>
  (await (await ask(server, path)).json()) as SinkJson[];

/** Resolves with the path of the sink with this ID or name. */
async function sinkPath(server: Server, topic: string, named: string): Promise<string> {
  const path = await sinksPath(server, topic);
  const all = await findAll(server, path);
  const [found, other] = all.filter(({ id, name }) => id === named || name === named);
  if (found === undefined) throw new Error('Sink not found');
  if (other !== undefined) throw new Error(`Several sinks are named ${named}: use an ID of \`tocsin sink list\``);
  return `${path}/${found.id}`;
}

async function patch(topic: string, named: string, change: object, options: Options): Promise<void> {
  const server = serverOf(options);
  const answer = await ask(server, await sinkPath(server, topic, named), asJson('PATCH', change));
  print((await answer.json()) as SinkJson, options);
}

const asJson = (method: string, body: object): RequestInit => ({
  method,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

/** Shows filter and headers as JSON. */
function print({ filter, headers, ...sink }: SinkJson, options: PrintOptions): void {
  const shown = { ...sink, filter: JSON.stringify(filter), headers: JSON.stringify(headers) };
  printObject(options.json === true ? { ...sink, filter, headers } : shown, options);
}
