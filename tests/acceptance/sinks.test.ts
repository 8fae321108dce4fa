import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Webhook } from 'standardwebhooks';
import { createTopic, made } from '../support/stack.ts';
import { useReceivers, type Receiver } from '../support/use-receiver.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const receivers = useReceivers();

const until = (condition: () => unknown, timeoutMs = 25_000) => eventually(condition, { timeoutMs });
const pathOf = ({ id }: { id: string }, sinkId = '') => `/api/topics/${id}/sinks${sinkId === '' ? '' : `/${sinkId}`}`;
const hook = { name: 'tickets', kind: 'webhook', url: 'https://hooks.example.com/tocsin' };

async function ownTopic(given: Record<string, unknown> = {}) {
  const owner = await stack.person({ tier: 'TEAM' });
  return { owner, topic: await createTopic(owner, given) };
}

/** A topic with a sink to a receiver. */
async function sinkOf(given: Record<string, unknown> = {}) {
  const { owner, topic } = await ownTopic();
  const receiver = await receivers.start();
  const sink = await made(owner.post(pathOf(topic), { ...hook, url: `${receiver.url}/hook`, ...given }));
  return { owner, topic, receiver, sink };
}

const publishAll = async (owner: Person, topic: string, texts: readonly string[]): Promise<string[]> => {
  const ids: string[] = [];
  for (const text of texts) ids.push((await made(owner.publish(topic, text))).id);
  return ids;
};
/** Sends a response whose headers arrive byte by byte and never end. */
function sendSlowly(response: ServerResponse): void {
  const start = 'HTTP/1.1 200 OK\r\nX-Padding: ';
  let sent = 0;
  const timer = setInterval(() => response.socket?.write(start[sent++] ?? '.'), 100);
  response.on('close', () => clearInterval(timer));
}
const textsOf = ({ requests }: Receiver) => requests.map(({ event }) => event.data.message.message);

test('a sink shows its secret once, and is read, listed, changed and deleted', async () => {
  const { owner, topic } = await ownTopic();
  await owner.publish(topic.name);
  const given = { filter: { priority_min: 4, tags: ['db'], q: 'disk' }, headers: { 'X-Env': 'prod' } };
  const created = await owner.post(pathOf(topic), { ...hook, ...given, from: 'start' });
  const { secret, ...sink } = created.body;
  expect(created.status).toBe(201);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(sink).toEqual({
    ...hook,
    ...given,
    id: sink.id,
    topic_id: topic.id,
    created_by: owner.id,
    state: 'active',
    state_reason: null,
    offset: 0,
    lag: 1,
    attempts: 0,
    failing_since: null,
    next_attempt_at: null,
    delivered: 0,
    skipped: 0,
    created_at: expect.any(String),
  });
  expect((await owner.get(pathOf(topic, sink.id))).body).toMatchObject({ id: sink.id, filter: given.filter });
  expect((await owner.get(pathOf(topic))).body).toMatchObject([{ id: sink.id }]);
  const changed = await owner.patch(pathOf(topic, sink.id), { name: 'pager', filter: {}, state: 'paused', offset: 7 });
  expect(changed).toMatchObject({
    status: 200,
    body: { name: 'pager', filter: { priority_min: null, tags: [], q: null }, state: 'paused', offset: 7 },
  });
  expect(JSON.stringify([changed.body, (await owner.get(pathOf(topic))).body])).not.toContain('whsec_');
  expect((await owner.delete(pathOf(topic, sink.id))).status).toBe(204);
  expect((await owner.delete(pathOf(topic, sink.id))).status).toBe(404);
  expect((await owner.get(pathOf(topic))).body).toEqual([]);
});

test('only managers of the topic see and change its sinks', async () => {
  const { owner, topic } = await ownTopic();
  const sink = await made(owner.post(pathOf(topic), hook));
  const [stranger, anonymous] = [await stack.person(), stack.caller()];
  const requests = [
    ['GET', pathOf(topic)],
    ['POST', pathOf(topic)],
    ['GET', pathOf(topic, sink.id)],
    ['PATCH', pathOf(topic, sink.id)],
    ['DELETE', pathOf(topic, sink.id)],
    ['POST', `${pathOf(topic, sink.id)}/test`],
    ['GET', `${pathOf(topic, sink.id)}/deliveries`],
  ] as const;
  for (const [method, path] of requests) {
    expect([method, path, (await stranger.send(method, path)).status]).toEqual([method, path, 403]);
    expect([method, path, (await anonymous.send(method, path)).status]).toEqual([method, path, 401]);
  }
  const other = await createTopic(owner);
  expect((await owner.get(pathOf(other, sink.id))).status).toBe(404);
  expect((await owner.get(pathOf(topic, randomUUID()))).status).toBe(404);
});

test.each([
  ['name', { name: '' }, 'name: must be 1 to 80 characters'],
  ['kind', { kind: 'fax' }, 'kind: must be one of webhook, slack, teams, discord'],
  ['url', { url: 'ftp://example.com' }, /^url: must be a URL/],
  ['address', { url: 'https://10.0.0.1/' }, 'url: must not have a private or reserved address'],
  ['address in decimal', { url: 'https://2852039166/' }, 'url: must not have a private or reserved address'],
  ['IPv6 address', { url: 'https://[::1]/' }, 'url: must not have a private or reserved address'],
  ['password', { url: 'https://u:p@example.com/' }, /^url: must not contain a user name/],
  ['priority', { filter: { priority_min: 6 } }, 'filter.priority_min: must be 1 to 5'],
  ['q', { filter: { q: 'x'.repeat(201) } }, 'filter.q: must be at most 200 characters'],
  ['from', { from: 'later' }, 'from: must be now, start or an offset'],
  ['offset', { from: -1 }, `from: must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`],
  ['header', { headers: { Host: 'x' } }, 'headers: must not contain host'],
  ['header', { headers: { 'Webhook-Signature': 'x' } }, 'headers: must not contain webhook-signature'],
  ['header', { headers: { 'X-A': 'a\r\nHost: b' } }, /^headers: must have values/],
])('refuses an invalid %s', async (_, given, detail) => {
  const { owner, topic } = await ownTopic();
  expect(await owner.post(pathOf(topic), { ...hook, ...given })).toMatchObject({
    status: 422,
    body: { detail: typeof detail === 'string' ? detail : expect.stringMatching(detail) },
  });
});

test('a topic has at most 20 sinks, also under concurrent requests', async () => {
  const { owner, topic } = await ownTopic();
  const answers = await Promise.all(Array.from({ length: 24 }, () => owner.post(pathOf(topic), hook)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(answers.find(({ status }) => status !== 201)).toMatchObject({
    status: 403,
    body: { detail: 'Sink limit reached' },
  });
});

describe('delivery', () => {
  test('each record goes out in order, as a signed CloudEvent with the id of the record', async () => {
    const { owner, topic, receiver, sink } = await sinkOf({ headers: { Authorization: 'Bearer x' } });
    const texts = Array.from({ length: 20 }, (_, n) => `text ${n}`);
    const ids = await publishAll(owner, topic.name, texts);
    await until(() => expect(textsOf(receiver)).toEqual(texts));
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual(ids);
    const [{ headers, event, path, body }] = receiver.requests as [Receiver['requests'][0]];
    expect({ path, authorization: headers.authorization }).toEqual({ path: '/hook', authorization: 'Bearer x' });
    expect(headers['content-type']).toMatch(/^application\/cloudevents\+json/);
    const [logged] = (await owner.get(`/api/topics/${topic.name}/log`)).body.records;
    expect(event).toEqual({
      specversion: '1.0',
      id: ids[0],
      type: 'tocsin.message',
      source: expect.stringMatching(`/api/topics/${topic.id}$`),
      subject: topic.name,
      time: logged.timestamp,
      datacontenttype: 'application/json',
      data: logged,
    });
    expect(() => new Webhook(sink.secret).verify(body, headers as Record<string, string>)).not.toThrow();
    expect(() => new Webhook(sink.secret).verify(`${body} `, headers as Record<string, string>)).toThrow();
    expect(receiver.concurrencyMax()).toBe(1);
    await until(async () =>
      expect((await owner.get(pathOf(topic, sink.id))).body).toMatchObject({ delivered: 20, lag: 0, skipped: 0 }),
    );
  });

  test('changes of a message are records with their own ids', async () => {
    const { owner, topic, receiver } = await sinkOf();
    const [id] = await publishAll(owner, topic.name, ['first']);
    await made(owner.patch(`/api/${topic.name}/messages/${id}`, { message: 'second' }));
    await made(owner.delete(`/api/${topic.name}/messages/${id}`));
    await until(() =>
      expect(receiver.requests.map(({ event }) => event.type)).toEqual([
        'tocsin.message',
        'tocsin.message_edited',
        'tocsin.message_deleted',
      ]),
    );
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });

  test('starts now, at the start or at an offset, and only with records that match its filter', async () => {
    const { owner, topic } = await ownTopic();
    const receiver = await receivers.start();
    await publishAll(owner, topic.name, ['one', 'two']);
    const { records } = (await owner.get(`/api/topics/${topic.name}/log`)).body;
    const sinks = { now: { from: 'now' }, start: { from: 'start' }, second: { from: records[1].offset } };
    for (const [name, given] of Object.entries({ ...sinks, filtered: { from: 'start', filter: { q: 'THREE' } } }))
      await made(owner.post(pathOf(topic), { ...hook, url: `${receiver.url}/${name}`, ...given }));
    await publishAll(owner, topic.name, ['three']);
    const received = (name: string) =>
      receiver.requests.filter(({ path }) => path === `/${name}`).map(({ event }) => event.data.message.message);
    await until(() => {
      expect(received('now')).toEqual(['three']);
      expect(received('start')).toEqual(['one', 'two', 'three']);
      expect(received('second')).toEqual(['two', 'three']);
      expect(received('filtered')).toEqual(['three']);
    });
  });

  test('a failed record is repeated before the next one, with the same id', async () => {
    const { owner, topic, receiver, sink } = await sinkOf();
    let failures = 0;
    receiver.respond((response, { event }) => {
      const fails = event.data.message.message === 'two' && failures++ < 1;
      response.writeHead(fails ? 503 : 200).end();
    });
    const ids = await publishAll(owner, topic.name, ['one', 'two', 'three']);
    await until(() => expect(textsOf(receiver)).toEqual(['one', 'two', 'two', 'three']));
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([ids[0], ids[1], ids[1], ids[2]]);
    await until(async () =>
      expect((await owner.get(`${pathOf(topic, sink.id)}/deliveries`)).body).toMatchObject([
        { webhook_id: ids[2], outcome: 'delivered', status: 200, attempts: 1 },
        { webhook_id: ids[1], outcome: 'delivered', status: 200, attempts: 2, milliseconds: expect.any(Number) },
        { webhook_id: ids[0], outcome: 'delivered', status: 200, attempts: 1 },
      ]),
    );
  });

  test('410 disables the sink, and a manager activates it again', async () => {
    const { owner, topic, receiver, sink } = await sinkOf();
    receiver.respond((response) => void response.writeHead(410).end());
    await publishAll(owner, topic.name, ['one']);
    await until(async () =>
      expect((await owner.get(pathOf(topic, sink.id))).body).toMatchObject({
        state: 'disabled',
        state_reason: 'The receiver returned 410',
      }),
    );
    receiver.respond((response) => void response.writeHead(200).end());
    await publishAll(owner, topic.name, ['two']);
    await made(owner.patch(pathOf(topic, sink.id), { state: 'active' }));
    await until(() => expect(textsOf(receiver)).toEqual(['one', 'one', 'two']));
  });

  test('a refused record is skipped after five attempts and counted', async () => {
    const { owner, topic, receiver, sink } = await sinkOf();
    receiver.respond((response, { event }) => {
      response.writeHead(event.data.message.message === 'bad' ? 400 : 200).end();
    });
    await publishAll(owner, topic.name, ['bad', 'good']);
    await until(() => expect(textsOf(receiver)).toEqual(['bad', 'bad', 'bad', 'bad', 'bad', 'good']), 120_000);
    await until(async () =>
      expect((await owner.get(pathOf(topic, sink.id))).body).toMatchObject({ delivered: 1, skipped: 1 }),
    );
  }, 150_000);

  test('Retry-After postpones the next attempt, and a test does not hasten it', async () => {
    const { owner, topic, receiver, sink } = await sinkOf();
    receiver.respond((response) => void response.writeHead(429, { 'Retry-After': '600' }).end());
    await publishAll(owner, topic.name, ['one']);
    const postponed = async () => {
      const { next_attempt_at: next, attempts } = (await owner.get(pathOf(topic, sink.id))).body;
      expect({ attempts, isLater: Date.parse(next) > Date.now() + 300_000 }).toEqual({ attempts: 1, isLater: true });
    };
    await until(postponed);
    await made(owner.post(`${pathOf(topic, sink.id)}/test`));
    await until(async () =>
      expect((await owner.get(`${pathOf(topic, sink.id)}/deliveries`)).body).toMatchObject([
        { offset: null, status: 429 },
        { offset: expect.any(Number), attempts: 1 },
      ]),
    );
    await postponed();
  });

  test('a paused sink sends nothing until it is active, and an offset rewinds it', async () => {
    const { owner, topic, receiver, sink } = await sinkOf();
    await publishAll(owner, topic.name, ['one']);
    await until(() => expect(textsOf(receiver)).toEqual(['one']));
    await made(owner.patch(pathOf(topic, sink.id), { state: 'paused' }));
    await publishAll(owner, topic.name, ['two']);
    const other = await made(owner.post(pathOf(topic), { ...hook, url: `${receiver.url}/other`, from: 'start' }));
    // The other sink shows that the records were there for this one, too.
    await until(() => expect(receiver.requests.filter(({ path }) => path === '/other')).toHaveLength(2));
    expect(receiver.requests.filter(({ path }) => path === '/hook')).toHaveLength(1);
    await made(owner.delete(pathOf(topic, other.id)));
    await made(owner.patch(pathOf(topic, sink.id), { state: 'active', offset: 0 }));
    const own = () => receiver.requests.filter(({ path }) => path === '/hook').map(({ event }) => event.data.message);
    await until(() => expect(own().map(({ message }) => message)).toEqual(['one', 'one', 'two']));
  });

  test('a test reaches also a paused sink and shows in the deliveries', async () => {
    const { owner, topic, receiver, sink } = await sinkOf();
    await made(owner.patch(pathOf(topic, sink.id), { state: 'paused' }));
    expect(await owner.post(`${pathOf(topic, sink.id)}/test`)).toMatchObject({
      status: 202,
      body: { message: 'Test queued', sink_id: sink.id },
    });
    await until(() => expect(receiver.requests.map(({ event }) => event.type)).toEqual(['tocsin.test']));
    await until(async () =>
      expect((await owner.get(`${pathOf(topic, sink.id)}/deliveries`)).body).toMatchObject([
        { offset: null, outcome: 'delivered', status: 204 },
      ]),
    );
  });

  test('a test that is requested during a delivery follows it', async () => {
    const { owner, topic, receiver, sink } = await sinkOf();
    receiver.respond((response, { event }) => {
      const requested = event.type === 'tocsin.test' ? Promise.resolve() : owner.post(`${pathOf(topic, sink.id)}/test`);
      void requested.then(() => response.writeHead(204).end());
    });
    await publishAll(owner, topic.name, ['one']);
    await until(() =>
      expect(receiver.requests.map(({ event }) => event.type)).toEqual(['tocsin.message', 'tocsin.test']),
    );
  });

  test('a receiver that redirects, answers endlessly, byte by byte or never delays only its own sink', async () => {
    const { owner, topic } = await ownTopic();
    const receiver = await receivers.start();
    receiver.respond((response, { path }) => {
      if (path === '/redirect') response.writeHead(302, { Location: `${receiver.url}/secret` }).end();
      else if (path === '/metadata') response.writeHead(307, { Location: 'http://169.254.169.254/latest/' }).end();
      else if (path === '/bytes') sendSlowly(response);
      else if (path === '/endless') {
        response.writeHead(200);
        const send = (): void => void (response.writableEnded || response.write(Buffer.alloc(65_536), send));
        send();
      } else if (path !== '/silent') response.writeHead(200).end();
    });
    const sinks = new Map<string, string>();
    for (const name of ['redirect', 'metadata', 'endless', 'bytes', 'silent', 'good'])
      sinks.set(name, (await made(owner.post(pathOf(topic), { ...hook, url: `${receiver.url}/${name}` }))).id);
    await publishAll(owner, topic.name, ['one', 'two']);
    const at = (name: string) => receiver.requests.filter(({ path }) => path === `/${name}`);
    await until(() => {
      expect(at('good')).toHaveLength(2);
      expect(at('endless')).toHaveLength(2);
    });
    const lastOf = async (name: string) =>
      (await owner.get(`${pathOf(topic, sinks.get(name)!)}/deliveries`)).body[0] as object;
    await until(async () => {
      for (const name of ['silent', 'bytes'])
        expect(await lastOf(name)).toMatchObject({ outcome: 'retrying', status: null, error: 'timeout' });
      expect(await lastOf('redirect')).toMatchObject({ outcome: 'retrying', status: 302 });
      expect(await lastOf('metadata')).toMatchObject({ outcome: 'retrying', status: 307 });
    });
    expect(at('secret')).toEqual([]);
  });
});

test('the deletion of a topic ends its sinks', async () => {
  const { owner, topic, receiver, sink } = await sinkOf();
  await publishAll(owner, topic.name, ['one']);
  await until(() => expect(receiver.requests).toHaveLength(1));
  await made(owner.delete(`/api/topics/${topic.id}`));
  expect((await owner.get(pathOf(topic, sink.id))).status).toBe(404);
});

test('the export of an account has its sinks without secrets', async () => {
  const { owner, sink } = await sinkOf();
  const { body } = await owner.get('/api/users/me/data');
  expect(body.sinks).toMatchObject([{ id: sink.id, name: 'tickets' }]);
  expect(JSON.stringify(body)).not.toContain(sink.secret);
});

test.each([
  ['slack', { text: 'Backups: Disk full' }],
  ['teams', { type: 'message', attachments: [{ content: { type: 'AdaptiveCard' } }] }],
  ['discord', { embeds: [{ title: 'Backups', description: 'Disk full' }] }],
])('a sink of the kind %s sends the format of its incoming webhook', async (kind, expected) => {
  const { owner, topic, receiver, sink } = await sinkOf({ kind });
  expect(sink).toMatchObject({ kind, secret: expect.stringMatching(/^whsec_/) });
  await made(owner.post('/', { topic: topic.name, title: 'Backups', message: 'Disk full' }));
  await until(() => expect(receiver.requests).toHaveLength(1));
  const [{ event, headers }] = receiver.requests as [(typeof receiver.requests)[number]];
  expect(event).toMatchObject(expected);
  expect(headers).toMatchObject({ 'content-type': 'application/json' });
  expect(headers).not.toHaveProperty('webhook-signature');
});
