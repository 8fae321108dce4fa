import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { readMemoryMb } from './read-memory-mb.ts';
import { healthMsMax, send, whileHealthy, type Attack, type Outcome, type Target } from './target.ts';

const watchedMs = 5_000;
const memoryMbMax = 100;
/** Requests per connection before the memory is measured. */
const warmUps = 20;

interface Flood {
  /** One connection for each. */
  readonly paths: readonly string[];
  readonly requestsPerConnection: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One response shares its bytes with others, the other does not. */
const documents: Flood = {
  paths: ['/openapi.json', '/metrics', '/openapi.json', '/metrics'],
  requestsPerConnection: 1_600,
};

/**
 * Sends 1,600 requests for a large document or the metrics on each connection and reads no response. Memory must stay
 * flat.
 */
export const pipelinedRequests: Attack = {
  name: 'pipelined requests',
  run: (target) => flood(target, documents),
};

/** Each response has about 400 kB. */
const [messages, messageCharacters] = [100, 4_000];
/** Enough to add several times the permitted memory if all of them start immediately. */
const readsPerConnection = 400;

/** Does the same with 400 reads of a topic's history per connection. `credential` are headers of an account. */
export function pipelinedReads(credential: Readonly<Record<string, string>>): Attack {
  return {
    name: 'pipelined reads of history',
    async run(target) {
      const name = `attack-${randomUUID()}`;
      const json = { ...credential, 'Content-Type': 'application/json' };
      await made(target, '/api/topics', json, JSON.stringify({ name }));
      for (let count = 0; count < messages; count += 1)
        await made(target, `/${name}`, credential, 'x'.repeat(messageCharacters));
      const path = `/${name}/json?limit=${messages}`;
      return flood(target, {
        paths: [path, path, path, path],
        requestsPerConnection: readsPerConnection,
        headers: credential,
      });
    },
  };
}

async function made(target: Target, path: string, headers: Readonly<Record<string, string>>, body: string) {
  const { status, text } = await send(target, { method: 'POST', path, headers, body });
  if (status >= 300) throw new Error(`POST ${path}: ${status} ${text}`);
}

async function flood(target: Target, { paths, requestsPerConnection, headers = {} }: Flood): Promise<Outcome> {
  const { hostname, port } = target.url;
  const residentMb = async () => (await readMemoryMb(target.url))?.resident ?? null;
  // The first responses need memory once, however many follow.
  for (const path of paths) for (let count = 0; count < warmUps; count += 1) await send(target, { path, headers });
  const before = await residentMb();
  const sent = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const { result: after, healthMs } = await whileHealthy(target, async () => {
    const sockets = await Promise.all(
      paths.map(async (path) => {
        const socket = connect({ host: hostname, port: Number(port) });
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        socket.pause();
        socket.write(`GET ${path} HTTP/1.1\r\n${sent.join('')}\r\n`.repeat(requestsPerConnection));
        return socket;
      }),
    );
    let highest = 0;
    for (const began = performance.now(); performance.now() - began < watchedMs;) {
      highest = Math.max(highest, (await residentMb()) ?? 0);
      await pause(250);
    }
    for (const socket of sockets) socket.destroy();
    return highest;
  });
  const addedMb = before === null ? null : Math.round(after - before);
  const faults = [
    ...((addedMb ?? 0) <= memoryMbMax ? [] : [`memory grew by ${addedMb} MB`]),
    ...(healthMs <= healthMsMax(target) ? [] : [`/health/live took ${healthMs} ms`]),
  ];
  return { figures: { requests: paths.length * requestsPerConnection, addedMb, healthMs }, faults };
}
