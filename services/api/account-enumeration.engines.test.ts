import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mailQueue } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { openPasswords, type Passwords } from '@tocsin/shared/operations/accounts/passwords.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newUser } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, enginesUnderTest, newTestPlace, openTestEngine } from '@tocsin/shared/testing/test-engine.ts';
import { startApi } from './start-api.ts';

// Response times must not reveal whether an account exists, so the server does the same work in both cases. Times are
// not reliable on a shared machine, so the tests count the work: calls to the engine's ports and password hashes.
const triesOfEach = 200;

/** The lowest bcrypt cost; `passwords.test.ts` checks the cost of a hash. */
const cost = 4;

let own: Closers;
let engine: Engine;
let url: string;
let passwordHash: string;
/** Engine calls of the current request, without the node's background work. */
let asked: string[] = [];
const ofRequest = new AsyncLocalStorage<string[]>();
const beginRequest = () => ofRequest.enterWith(asked);
const requestStart = 'http.server.request.start';

beforeAll(async () => {
  own = closers();
  subscribe(requestStart, beginRequest);
  own.add(() => void unsubscribe(requestStart, beginRequest));
  const place = newTestPlace(enginesUnderTest());
  own.add(() => place.remove());
  engine = await openTestEngine(place);
  own.add(() => engine.close());
  const passwords = openPasswords({ cost });
  own.add(() => passwords.close());
  passwordHash = await passwords.hash('the right password');
  const config = { ...place.config, PORT: 0, TRUST_PROXY: '1' };
  const api = await startApi({
    engine: watched(engine),
    config,
    clock: systemClock,
    log: openLogger('test', 'silent'),
    passwords: counted(passwords),
  });
  own.add(() => api.close());
  url = api.url;
});
afterAll(() => own.closeAll());

/** Number of computed hashes. `passwords.test.ts` shows that a hash without an account costs the same. */
let hashes = 0;

function counted(passwords: Passwords): Passwords {
  return {
    hash: (password) => {
      hashes += 1;
      return passwords.hash(password);
    },
    matches: (password, hash) => {
      hashes += 1;
      return passwords.matches(password, hash);
    },
    close: () => passwords.close(),
  };
}

/** Wraps the engine so that its ports record calls: `documents.find users {"index":"text", …}`. */
function watched(opened: Engine): Engine {
  const ports = ['eventLog', 'messages', 'deliveries', 'documents', 'jobQueue', 'bus'] as const;
  return { ...opened, ...Object.fromEntries(ports.map((name) => [name, watchedPort(name, opened[name])])) };
}

function watchedPort<P extends object>(portName: string, port: P): P {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        ofRequest.getStore()?.push([`${portName}.${String(name)}`, ...given.map(likeOf)].join(' '));
        return Reflect.apply(value, target, given) as unknown;
      };
    },
  });
}

/** Replaces IDs, addresses and times, which differ between requests, by placeholders of the same length. */
function likeOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'uniqueKeys' in value)
    return (value as unknown as typeof users).name;
  return (
    JSON.stringify(value, (_key, inside: unknown) =>
      typeof inside === 'string'
        ? `text of ${inside.length}`
        : typeof inside === 'number' && inside > 1e9
          ? 'time'
          : inside,
    ) ?? ''
  );
}

interface Tried {
  readonly status: number;
  readonly body: unknown;
  readonly headers: readonly string[];
  readonly asked: readonly string[];
  readonly hashes: number;
}

let tries = 0;

/**
 * Sends the request from a separate address (all of the same length). Resolves with the response and the recorded work.
 */
async function tryOnce(path: string, json: object): Promise<Tried> {
  tries += 1;
  hashes = 0;
  asked = [];
  const headers = {
    'Content-Type': 'application/json',
    'X-Forwarded-For': `10.0.${100 + (tries >> 7)}.${100 + (tries & 127)}`,
  };
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(json) });
  return {
    status: answer.status,
    body: await answer.json(),
    headers: [...answer.headers.keys()].sort(),
    asked: [...asked],
    hashes,
  };
}

/** Sends the request alternately for an account and for an unknown email address of the same form. */
async function tryBoth(
  path: string,
  jsonOf: (email: string) => object,
): Promise<{ account: Tried[]; nobody: Tried[] }> {
  const done: { account: Tried[]; nobody: Tried[] } = { account: [], nobody: [] };
  for (let pair = 0; pair < triesOfEach; pair += 1) {
    // Accounts of every kind: verified or not, disabled or not.
    const isVerified = pair % 2 === 0;
    const account = await engine.documents.insert(
      users,
      newUser({ passwordHash, isVerified, wasVerified: isVerified, isActive: pair % 3 !== 0 }),
    );
    done.account.push(await tryOnce(path, jsonOf(account.email)));
    done.nobody.push(await tryOnce(path, jsonOf(newUser().email)));
  }
  return done;
}

describe(`requests for known and unknown accounts, ${engineUnderTest}`, () => {
  test('a login with a wrong password computes one hash, makes the same store calls and returns the same response', async () => {
    const { account, nobody } = await tryBoth('/auth/login', (email) => ({ email, password: 'a wrong password' }));
    const first = account[0]!;
    expect(first).toMatchObject({ status: 401, body: { detail: 'Could not validate credentials' }, hashes: 1 });
    expect(first.asked.filter((call) => call.startsWith('documents.find users'))).toHaveLength(1);
    for (const one of [...account, ...nobody]) expect(one).toEqual(first);
  });

  test.each(['/auth/password-reset/request', '/auth/resend-verification'])(
    '%s makes one query, adds one job and returns the same response',
    async (path) => {
      const { account, nobody } = await tryBoth(path, (email) => ({ email }));
      const first = account[0]!;
      expect(first).toMatchObject({ status: 200, hashes: 0 });
      const calls = first.asked.map((call) => call.split(' ')[0]);
      expect(calls.filter((call) => call?.startsWith('documents.'))).toEqual(['documents.find']);
      expect(calls.filter((call) => call?.startsWith('jobQueue.'))).toEqual(['jobQueue.add']);
      for (const one of [...account, ...nobody]) expect(one).toEqual(first);
      expect((await engine.jobQueue.counts(mailQueue)).waiting).toBeGreaterThanOrEqual(2 * triesOfEach);
    },
  );
});
