import { noExtras } from '@tocsin/shared/domain/messages/message-extras.ts';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError, unavailable } from '@tocsin/shared/domain/errors.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { idSource, timeOfId } from '@tocsin/shared/platform/ids.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { EventLog } from '@tocsin/shared/ports/event-log.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newId, newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { Directory } from '../../directory/directory.ts';
import { rateLimits } from '../../http/rate-limit.ts';
import type { MessageFields } from './message-fields.ts';
import { publishMessage, type Published, type PublishDeps } from './publish-message.ts';
import { inlineStore } from '../../storing/inline-store.ts';

let own: Closers;
/** The number of next appends that the log refuses. */
let refusals: number;
/** Publishes as the account with some dependencies replaced. */
let publishWith: (changed: Partial<PublishDeps>, idempotencyKey?: string) => Promise<Published>;
/** Publishes as the account. Resolves with the remaining uses of its window, or the error code. */
let publish: (idempotencyKey?: string) => Promise<{ status: string; remaining?: string }>;

beforeEach(async () => {
  own = closers();
  refusals = 0;
  const { place, engine: opened } = await openOwnEngine(own);
  const engine = { ...opened, eventLog: refusing(opened.eventLog) };
  const log = openLogger('test', 'silent');
  const directory = new Directory({ ...engine, log });
  own.add(await directory.start());
  const deps = {
    engine,
    directory,
    log,
    clock: systemClock,
    config: place.config,
    makeId: newId,
    inlineStore: inlineStore({ messages: engine.messages, clock: systemClock, log }),
    rateLimits: rateLimits({ bus: engine.bus, directory, isOn: true }),
  } as unknown as PublishDeps;
  const owner = await engine.documents.insert(users, newUser());
  const topic = await engine.documents.insert(topics, newTopic(owner.id));
  const caller: AccountCaller = {
    kind: 'account',
    name: 'ann',
    userId: owner.id,
    tier: 'FREE',
    scopes: null,
    credentialId: newId(),
    expiresAt: null,
  };
  const fields: MessageFields = {
    message: 'x',
    title: null,
    priority: 3,
    tags: [],
    markdown: false,
    ...noExtras,
    ttlMs: null,
    sequenceIds: [],
    isResolved: false,
    scheduledFor: null,
  };
  publishWith = (changed, idempotencyKey) =>
    publishMessage({ ...deps, ...changed }, caller, { topic, fields, idempotencyKey });
  publish = async (idempotencyKey) => {
    try {
      const { headers, isReplay } = await publishWith({}, idempotencyKey);
      return isReplay ? { status: 'replayed' } : { status: 'published', remaining: headers['X-RateLimit-Remaining']! };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { status: error.code };
    }
  };
});
afterEach(() => own.closeAll());

/** The engine's log, except for the appends to refuse. */
function refusing(log: EventLog): EventLog {
  const append: EventLog['append'] = (...record) => {
    if (refusals === 0) return log.append(...record);
    refusals -= 1;
    return Promise.reject(unavailable('Log'));
  };
  return new Proxy(log, {
    get(target, name) {
      if (name === 'append') return append;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

test.each([undefined, 'a key'])(
  'a message is never older than the time in its ID, however long its publish takes (Idempotency-Key: %s)',
  async (idempotencyKey) => {
    let now = Date.now();
    const clock = () => now++;
    const { message } = await publishWith({ clock, makeId: idSource(clock) }, idempotencyKey);
    expect(message.timestamp).toBeGreaterThanOrEqual(timeOfId(message.id)!);
  },
);

test('a publish that the log refuses does not count', async () => {
  expect(await publish()).toEqual({ status: 'published', remaining: '9' });
  refusals = 25;
  for (let count = 0; count < 25; count += 1) expect(await publish()).toEqual({ status: 'unavailable' });
  expect(await publish()).toEqual({ status: 'published', remaining: '8' });
});

test('also when it is retried with its key', async () => {
  refusals = 1;
  expect(await publish('again')).toEqual({ status: 'unavailable' });
  expect(await publish('again')).toEqual({ status: 'published', remaining: '9' });
  expect(await publish('again')).toEqual({ status: 'replayed' });
  expect(await publish()).toEqual({ status: 'published', remaining: '8' });
});

test('after many concurrent refusals the full rate limit is available', async () => {
  refusals = Infinity;
  const refused = await Promise.all(Array.from({ length: 15 }, () => publish()));
  expect(refused.filter(({ status }) => status === 'published')).toEqual([]);
  refusals = 0;
  const more = await Promise.all(Array.from({ length: 30 }, () => publish()));
  expect(more.filter(({ status }) => status === 'published')).toHaveLength(10);
});
