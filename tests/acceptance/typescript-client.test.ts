import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { isRecord, TocsinClient, type LogRecord, type StreamEvent } from '@tocsin/client';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { openTcpProxy } from '@tocsin/shared/testing/tcp-proxy.ts';
import { renderClientTypes } from '@tocsin/tools/client/render-client-types.ts';
import { createTopic, made, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
let token: string;
let topic: { id: string; name: string };
let own: Closers;

beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  token = (await made(owner.post('/api/keys', { name: 'client', scopes: ['publish', 'subscribe'] }))).key;
});
beforeEach(async () => {
  own = closers();
  topic = await createTopic(owner);
});
afterEach(() => own.closeAll());

const serverUrl = testStack().urls[0]!;
const clientAt = (url = serverUrl) => new TocsinClient({ url, token });
const textsOf = (records: readonly LogRecord[]): string[] => records.map(({ message }) => message.message);
const read = async () => (await owner.get(`/api/topics/${topic.name}/log`)).body.records as LogRecord[];

async function publish(...texts: string[]): Promise<void> {
  for (const text of texts) await clientAt().publish(topic.name, text);
}

/** A signal that aborts at the end of the test. */
function untilEnd(): AbortController {
  const controller = new AbortController();
  own.add(() => controller.abort());
  return controller;
}

async function proxyToServer() {
  const { hostname, port } = new URL(serverUrl);
  const proxy = await openTcpProxy({ host: hostname, port: Number(port) });
  own.add(() => proxy.close());
  return { proxy, client: clientAt(`http://127.0.0.1:${proxy.port}`) };
}

test('its types are those of the OpenAPI document', async () => {
  const document = (await owner.get('/openapi.json')).body;
  const file = join(import.meta.dirname, '../../clients/typescript/src/openapi.ts');
  // After a change of the interface: npm run client
  expect(readFileSync(file, 'utf8')).toBe(await renderClientTypes(document));
});

test('publishes a message with its fields', async () => {
  const published = await clientAt().publish(topic.name, 'done', { title: 'Backups', priority: 4, tags: ['a', 'b'] });
  expect(published).toMatchObject({ topic: topic.name, message: 'done', priority: 4 });
  expect((await read())[0]!.message).toMatchObject({ id: published.id, title: 'Backups', tags: ['a', 'b'] });
});

test('publishes once if the response is lost', async () => {
  let calls = 0;
  const retries: (number | null)[] = [];
  const client = new TocsinClient({
    url: serverUrl,
    token,
    onRetry: ({ status }) => retries.push(status),
    fetch: async (...request) => {
      const response = await fetch(...request);
      if (++calls === 1) throw new TypeError('fetch failed');
      return response;
    },
  });
  const { id } = await client.publish(topic.name, 'once');
  expect({ calls, retries }).toEqual({ calls: 2, retries: [null] });
  expect((await read()).map(({ message }) => message.id)).toEqual([id]);
});

test('throws the server’s text for a final error, and stops when its signal aborts', async () => {
  await expect(clientAt().publish(topic.name, 'x', { ttl: '1s' })).rejects.toMatchObject({
    name: 'TocsinError',
    status: 422,
    retryAfterMs: null,
    message: expect.stringContaining('ttl'),
  });
  const nowhere = await openTcpProxy({ host: '127.0.0.1', port: 9 });
  own.add(() => nowhere.close());
  const stop = untilEnd();
  const publishing = clientAt(`http://127.0.0.1:${nowhere.port}`).publish(topic.name, 'x', { signal: stop.signal });
  setTimeout(() => stop.abort(new Error('enough')), 50);
  await expect(publishing).rejects.toThrow('enough');
});

test('resumes a stream after a lost connection, without gaps or duplicates', async () => {
  const { proxy, client } = await proxyToServer();
  const events: StreamEvent[] = [];
  const stop = untilEnd();
  const reading = (async () => {
    for await (const event of client.subscribe(topic.name, { signal: stop.signal })) events.push(event);
  })();
  const texts = () => events.flatMap((event) => (event.type === 'message' ? [event.message.message] : []));
  const readyCount = () => events.filter(({ type }) => type === 'ready').length;
  await eventually(() => expect(readyCount()).toBe(1));
  await publish('1', '2');
  await eventually(() => expect(texts()).toEqual(['1', '2']));
  proxy.cut({ refuse: true });
  await publish('3');
  proxy.restore();
  await publish('4');
  await eventually(() => expect(texts()).toEqual(['1', '2', '3', '4']));
  expect(events.find((event, index) => index > 0 && event.type === 'ready')).toMatchObject({ recovered: true });
  stop.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');
  // A new client continues after the last event.
  await publish('5');
  const { position } = events.at(-1)!;
  for await (const event of clientAt().subscribe([topic.name], { since: position! })) {
    if (event.type === 'ready') continue;
    expect(event).toMatchObject({ type: 'message', message: { message: '5' } });
    break;
  }
});

test('a stream ends with an error when the access has ended', async () => {
  const given = await made(owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'] }));
  const stream = new TocsinClient({ url: serverUrl, token: given.token }).subscribe(topic.name);
  expect((await stream.next()).value).toMatchObject({ type: 'ready' });
  const next = stream.next();
  expect((await owner.delete(`/api/topics/${topic.name}/access-tokens/${given.id}`)).status).toBe(204);
  await expect(next).rejects.toMatchObject({ name: 'TocsinError', status: 401 });
});

test('reads a log from an offset or a time, and follows it after a lost connection', async () => {
  await publish('1', '2', '3');
  const records = await read();
  const texts = async (options: Parameters<TocsinClient['log']>[1]) => {
    const seen: string[] = [];
    for await (const entry of clientAt().log(topic.name, options))
      if (isRecord(entry)) seen.push(entry.message.message);
    return seen;
  };
  expect(await texts({})).toEqual(['1', '2', '3']);
  expect(await texts({ from: records[1]!.offset, limit: 1 })).toEqual(['2']);
  expect(await texts({ from: new Date(Date.parse(records[2]!.timestamp)) })).toContain('3');
  expect(await texts({ from: '2030-01-01T00:00:00Z' })).toEqual([]);
  const { proxy, client } = await proxyToServer();
  const seen: string[] = [];
  for await (const entry of client.log(topic.name, { follow: true })) {
    if (!isRecord(entry)) continue;
    seen.push(entry.message.message);
    if (seen.length === 3) {
      proxy.cut();
      await publish('4');
    }
    if (seen.length === 4) break;
  }
  expect(seen).toEqual(['1', '2', '3', '4']);
});

test('reads and consumes what a filter selects, and stores the offset after the rest', async () => {
  await publish('disk 1', 'door 2', 'disk 3', 'door 4');
  const filter = { q: 'disk' };
  const read: string[] = [];
  for await (const entry of clientAt().log(topic.name, { filter }))
    if (isRecord(entry)) read.push(entry.message.message);
  expect(read).toEqual(['disk 1', 'disk 3']);
  const stop = untilEnd();
  const seen: string[] = [];
  const handle = ({ records }: { records: readonly LogRecord[] }) => void seen.push(...textsOf(records));
  const consuming = clientAt().consume(topic.name, 'disks', handle, { filter, signal: stop.signal });
  await eventually(async () =>
    expect((await owner.get(`/api/topics/${topic.name}/consumers/disks`)).body).toMatchObject({ lag: 0, lost: 0 }),
  );
  expect(seen).toEqual(['disk 1', 'disk 3']);
  stop.abort();
  await consuming;
});

test('consumes a log at least once, and stores the offset after each batch', async () => {
  await publish('1', '2', '3');
  const stop = untilEnd();
  const batches: string[][] = [];
  const failing = clientAt().consume(
    topic.name,
    'worker',
    ({ records }) => {
      batches.push(textsOf(records));
      if (batches.length === 2) throw new Error('the disk is full');
    },
    { batchSize: 2 },
  );
  await expect(failing).rejects.toThrow('the disk is full');
  const consuming = clientAt().consume(
    topic.name,
    'worker',
    ({ records }) => {
      batches.push(textsOf(records));
    },
    { batchSize: 2, signal: stop.signal },
  );
  await eventually(() => expect(batches).toEqual([['1', '2'], ['3'], ['3']]));
  const last = (await read()).at(-1)!.offset;
  await eventually(async () =>
    expect((await owner.get(`/api/topics/${topic.name}/consumers/worker`)).body).toMatchObject({
      offset: last + 1,
      lag: 0,
    }),
  );
  stop.abort();
  await consuming;
});

test('a new consumer can start at the end', async () => {
  await publish('before');
  const stop = untilEnd();
  const seen: string[] = [];
  const consuming = clientAt().consume(topic.name, 'late', ({ records }) => void seen.push(...textsOf(records)), {
    from: 'end',
    signal: stop.signal,
  });
  await eventually(async () => expect((await owner.get(`/api/topics/${topic.name}/consumers/late`)).status).toBe(200));
  await publish('after');
  await eventually(() => expect(seen).toEqual(['after']));
  stop.abort();
  await consuming;
});

test('of two programs with a lease one works, and the other continues when it stops', async () => {
  const seen: Record<'first' | 'second', string[]> = { first: [], second: [] };
  const run = (name: keyof typeof seen) => {
    const stop = untilEnd();
    const done = clientAt().consume(topic.name, 'shared', ({ records }) => void seen[name].push(...textsOf(records)), {
      leaseSeconds: 10,
      signal: stop.signal,
    });
    return { stop: () => stop.abort(), done };
  };
  const first = run('first');
  await publish('1');
  await eventually(() => expect(seen.first).toEqual(['1']));
  const second = run('second');
  await publish('2');
  await eventually(() => expect(seen.first).toEqual(['1', '2']));
  const { offset } = (await read()).at(-1)!;
  await eventually(async () =>
    expect((await owner.get(`/api/topics/${topic.name}/consumers/shared`)).body).toMatchObject({
      offset: offset + 1,
    }),
  );
  first.stop();
  await first.done;
  await publish('3');
  await eventually(() => expect(seen).toEqual({ first: ['1', '2'], second: ['3'] }));
  second.stop();
  await second.done;
});

test('a consumer passes a gap on, and continues after its lease was lost', async () => {
  const gap = { from_offset: 0, to_offset: 7, reason: 'expired' };
  const stop = untilEnd();
  const requests: string[] = [];
  const url = await serve((request, response) => {
    requests.push(
      `${request.method} ${request.url!.split('?')[0]!.split('/').at(-1)} ${request.headers['x-lease'] ?? ''}`,
    );
    const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    const leases = requests.filter((one) => one.startsWith('POST lease')).length;
    if (request.url!.endsWith('/lease')) return answer(200, { lease: `cl_${leases}`, offset: 0 });
    if (request.url!.includes('/log')) return answer(200, { records: [], gap, next_offset: 7 });
    if (request.method === 'PUT' && leases === 1) return answer(409, { detail: 'Lease was lost' });
    if (request.method === 'PUT') stop.abort();
    answer(200, { offset: 0 });
  });
  const gaps: unknown[] = [];
  await new TocsinClient({ url }).consume('any', 'c', ({ gap: lost }) => void gaps.push(lost), {
    leaseSeconds: 300,
    signal: stop.signal,
  });
  expect(gaps).toEqual([gap, gap]);
  expect(requests).toEqual([
    'GET c ',
    'POST lease ',
    'GET log ',
    'PUT c cl_1',
    'DELETE lease cl_1',
    'POST lease ',
    'GET log ',
    'PUT c cl_2',
    'DELETE lease cl_2',
  ]);
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  own.add(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
