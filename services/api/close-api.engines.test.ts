import { Agent, get, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { startApi, type RunningApi } from './start-api.ts';

let own: Closers;
let api: RunningApi;
let topic: Topic;
let leaving: AbortController;
/** Holds appends to the log until it is released. */
let log: { hold(): void; release(): void };
/** Keeps connections alive, as a proxy does. */
let agent: Agent;

beforeEach(async () => {
  own = closers();
  const { place, engine } = await openOwnEngine(own);
  const owner = await engine.documents.insert(users, newUser());
  topic = await engine.documents.insert(topics, newTopic(owner.id));
  leaving = new AbortController();
  const held = heldLog(engine);
  log = held.log;
  api = await startApi({
    engine: held.engine,
    config: { ...place.config, PORT: 0 },
    clock: systemClock,
    log: openLogger('test', 'silent'),
    leaving: leaving.signal,
  });
  own.add(() => api.close());
  agent = new Agent({ keepAlive: true });
  own.add(() => agent.destroy());
});
afterEach(() => own.closeAll());

function heldLog(engine: Engine): { engine: Engine; log: typeof log } {
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const append: Engine['eventLog']['append'] = async (...args) => {
    await gate.promise;
    return engine.eventLog.append(...args);
  };
  const eventLog = new Proxy(engine.eventLog, {
    get(target, name) {
      if (name === 'append') return append;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return {
    engine: { ...engine, eventLog },
    log: { hold: () => void (gate = Promise.withResolvers<void>()), release: () => gate.resolve() },
  };
}

interface Answer {
  readonly status: number;
  readonly connection: string | undefined;
  readonly body: Record<string, unknown>;
}

async function answerTo(response: IncomingMessage): Promise<Answer> {
  return {
    status: response.statusCode!,
    connection: response.headers.connection,
    body: JSON.parse(await text(response)) as Answer['body'],
  };
}

const read = (path: string) =>
  new Promise<Answer>((resolve, reject) => {
    get(api.url + path, { agent }, (response) => void answerTo(response).then(resolve, reject)).on('error', reject);
  });
const publish = (words: string) =>
  new Promise<Answer>((resolve, reject) => {
    request(
      `${api.url}/${topic.name}`,
      { method: 'POST', agent },
      (response) => void answerTo(response).then(resolve, reject),
    )
      .on('error', reject)
      .end(words);
  });

test(`a terminating node is not ready but continues to serve, ${engineUnderTest}`, async () => {
  expect(await read('/health/ready')).toMatchObject({ status: 200, body: { status: 'ok' } });
  leaving.abort();
  expect(await read('/health/ready')).toMatchObject({
    status: 503,
    body: { status: 'down', parts: { log: 'ok', database: 'ok', queue: 'ok', bus: 'ok' } },
  });
  expect(await publish('still accepted')).toMatchObject({ status: 200 });
});

test('a closing node finishes open requests and closes their connections', async () => {
  expect(await read(`/${topic.name}/json`)).toMatchObject({ status: 200, connection: 'keep-alive' });
  log.hold();
  const publishing = publish('under way');
  const waiting = read(`/${topic.name}/json?wait=60`);
  const underWay = await read('/health/live'); // sent after them, so they have arrived
  expect(underWay).toMatchObject({ status: 200 });
  let isClosed = false;
  const closing = api.close().then(() => (isClosed = true));
  expect(await waiting).toMatchObject({ status: 200, connection: 'close', body: { messages: [], count: 0 } });
  // Uses the open connection of the first reads; new connections are refused.
  expect(await read('/health/ready')).toMatchObject({ status: 503, connection: 'close' });
  await expect(fetch(`${api.url}/health/live`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  expect(isClosed).toBe(false);
  log.release();
  expect(await publishing).toMatchObject({ status: 200, connection: 'close', body: { message: 'under way' } });
  await closing;
});
