import { countCpu, type CountedProcesses, type CpuPerOperation } from './count-cpu.ts';
import { EventConnection } from './event-connection.ts';
import { getRequest, HttpConnection } from './http-connection.ts';

/** The generator's input, as JSON in its first argument. */
export interface ReplayLoad extends CountedProcesses {
  /** Readers are distributed over these ports. */
  readonly ports: readonly number[];
  readonly topic: string;
  /** `log`: pages of the log; `sse`: a stream that resumes from the beginning. */
  readonly by: 'log' | 'sse';
  readonly readers: number;
  /** Messages in the topic; each reader reads them all. */
  readonly messages: number;
  readonly secondsMax: number;
}

/** The generator's output. */
export interface ReplayResult {
  /** All readers combined. */
  readonly read: number;
  readonly seconds: number;
  /** Per message. */
  readonly cpuUs: CpuPerOperation;
}

const pageSize = 1_000;
const nilId = '00000000-0000-0000-0000-000000000000';
const recordType = Buffer.from('"type":"message"');
const textByte = 'x'.charCodeAt(0);
/** The length of a page after its records: shorter than a record. */
const afterRecordsMax = 250;

async function generate(load: ReplayLoad): Promise<ReplayResult> {
  const portOf = (index: number) => load.ports[index % load.ports.length]!;
  const cpuOf = countCpu(load);
  const began = performance.now();
  const readers = Array.from({ length: load.readers }, (_, index) =>
    (load.by === 'log' ? readLog : readStream)(load, portOf(index)),
  );
  const read = (await Promise.all(readers)).reduce((sum, count) => sum + count, 0);
  return { read, seconds: (performance.now() - began) / 1_000, cpuUs: cpuOf(read) };
}

/** Follows `next_offset` to the end. Resolves with the number of records. */
async function readLog(load: ReplayLoad, port: number): Promise<number> {
  const connection = await HttpConnection.open(port);
  const endsAt = performance.now() + load.secondsMax * 1_000;
  let from = 0;
  let read = 0;
  while (read < load.messages && performance.now() < endsAt) {
    const chunks: Buffer[] = [];
    const request = getRequest(`/api/topics/${load.topic}/log?from_offset=${from}&limit=${pageSize}`);
    const status = await connection.request(request, (chunk) => chunks.push(Buffer.from(chunk)));
    if (status !== 200) throw new Error(`a page of the log returned ${status}`);
    const body = Buffer.concat(chunks);
    const count = countOf(body, recordType);
    if (count === 0) break;
    read += count;
    from = Number(/"next_offset":(\d+)/.exec(body.toString('latin1', body.length - afterRecordsMax))![1]);
  }
  connection.close();
  return read;
}

function countOf(bytes: Buffer, part: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(part); at >= 0; at = bytes.indexOf(part, at + part.length)) count += 1;
  return count;
}

/** Resolves with the number of messages once all have arrived or the time is over. */
function readStream(load: ReplayLoad, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let read = 0;
    const to = { port, path: `/${load.topic}/sse?since_id=${nilId}`, transport: 'sse' } as const;
    let connection: EventConnection | undefined;
    const end = () => {
      clearTimeout(timer);
      connection?.close();
      resolve(read);
    };
    const timer = setTimeout(end, load.secondsMax * 1_000);
    EventConnection.open(to, (bytes, textAt) => {
      if (bytes[textAt] === textByte && ++read === load.messages) setImmediate(end);
    }).then((opened) => (connection = opened), reject);
  });
}

process.stdout.write(`${JSON.stringify(await generate(JSON.parse(process.argv[2]!) as ReplayLoad))}\n`);
