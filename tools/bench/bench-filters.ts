import { parseArgs } from 'node:util';
import { countCpu } from './count-cpu.ts';
import { EventConnection } from './event-connection.ts';
import { HttpConnection, publishRequest } from './http-connection.ts';
import { startTocsin, type TocsinTarget } from './start-tocsin.ts';

const usage = `Usage: npm run -s bench:filters -- [--streams N] [--messages N]

What a message costs on streams whose filters leave it out: the CPU time of an embedded server for each message with N
SSE streams (1,000) of one topic, less that without streams, per stream. Prints one line of JSON per kind of filter.
Exits with 1 if one costs more than 1 µs.
`;

const usMax = 1;
const publishers = 16;
/** Publishes before each measurement, until the code is compiled. */
const warmUp = 1_000;
/** Streams opened concurrently. */
const opensMax = 50;

interface Kind {
  readonly filter: string;
  readonly textChars: number;
  /** The filter of a stream; null: no streams. */
  readonly query: ((stream: number) => string) | null;
}

const kinds: readonly Kind[] = [200, 4_000].flatMap((textChars) => [
  { filter: 'no streams', textChars, query: null },
  { filter: 'the same priority', textChars, query: () => 'priority_min=5' },
  { filter: 'different tags', textChars, query: (stream) => `tags=host-${stream},rack-${stream}` },
  { filter: 'the same text', textChars, query: () => 'q=disk+failure' },
  { filter: 'different texts', textChars, query: (stream) => `q=host-${stream}+failed` },
]);

const words =
  'the nightly backup of database seven on the host has finished without an error after some minutes '.split(' ');

function textOf(chars: number): string {
  let text = '';
  for (let word = 0; text.length < chars; word += 1) text += `${words[word % words.length]!} `;
  return text.slice(0, chars);
}

async function openStreams({ ports }: TocsinTarget, path: string, { query }: Kind, count: number) {
  const streams: EventConnection[] = [];
  if (query === null) return streams;
  let texts = 0;
  const onText = () => {
    texts += 1; // `ready` has a text as well
    if (texts > count) throw new Error('a filtered message was delivered');
  };
  while (streams.length < count) {
    const first = streams.length;
    const opening = Array.from({ length: Math.min(opensMax, count - first) }, (_, index) =>
      EventConnection.open({ port: ports[0]!, path: `${path}/sse?${query(first + index)}`, transport: 'sse' }, onText),
    );
    streams.push(...(await Promise.all(opening)));
  }
  return streams;
}

async function publishAll({ ports }: TocsinTarget, bytes: Buffer, count: number): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: publishers }, async () => {
      const connection = await HttpConnection.open(ports[0]!);
      while (left > 0) {
        left -= 1;
        const status = await connection.request(bytes);
        if (status !== 200) throw new Error(`a publish returned ${status}`);
      }
      connection.close();
    }),
  );
}

/** Returns the CPU time of the server per message, in microseconds. */
async function measure(kind: Kind, streams: number, messages: number): Promise<number> {
  const tocsin = await startTocsin({ engines: undefined, topics: 1, profileDir: undefined });
  const path = `/${tocsin.topics[0]!.name}`;
  try {
    const open = await openStreams(tocsin, path, kind, streams);
    const bytes = publishRequest(`${path}?tags=db,prod,eu-west`, textOf(kind.textChars));
    await publishAll(tocsin, bytes, warmUp);
    const cpuOf = countCpu(tocsin);
    await publishAll(tocsin, bytes, messages);
    const { server } = cpuOf(messages);
    for (const stream of open) stream.close();
    return server;
  } finally {
    await tocsin.stop();
  }
}

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { streams: { type: 'string', default: '1000' }, messages: { type: 'string', default: '5000' } },
  });
  const [streams, messages] = [Number(values.streams), Number(values.messages)];
  if (!(streams > 0 && messages > 0)) {
    process.stderr.write(usage);
    return 2;
  }
  let alone = 0;
  let areMet = true;
  for (const kind of kinds) {
    const cpuUs = await measure(kind, streams, messages);
    if (kind.query === null) alone = cpuUs;
    const perStream = kind.query === null ? null : Number(((cpuUs - alone) / streams).toFixed(3));
    areMet &&= (perStream ?? 0) <= usMax;
    const { filter, textChars } = kind;
    process.stdout.write(
      `${JSON.stringify({ filter, textChars, streams, messages, cpuUs: Math.round(cpuUs), perStream })}\n`,
    );
  }
  return areMet ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
