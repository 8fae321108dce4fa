import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { openPasswords } from '@tocsin/shared/operations/accounts/passwords.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newId, newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { newTestPlace, openTestEngine } from '@tocsin/shared/testing/test-engine.ts';
import { accessTokens } from './http/access-tokens.ts';
import { startApi } from './start-api.ts';

/**
 * bcrypt cost. A hash takes about 20 ms, as long as ten publishes. The limit on concurrent hashes does not depend on
 * the cost.
 */
const cost = 8;
/** Concurrent logins. Fewer than the queue limit, so each login computes a hash; about 50 per second complete. */
const concurrentLogins = 25;
/** Each has one half without and one with the flood, so that other load on the machine affects both. */
const rounds = 8;
const publishesPerRound = 50;

let own: Closers;
let url: string;
let topicName: string;
/** A credential that is not cached: its verification uses libuv's thread pool, which hashes must not block. */
let newToken: () => Promise<string>;

beforeAll(async () => {
  own = closers();
  const place = newTestPlace();
  own.add(() => place.remove());
  const engine = await openTestEngine(place);
  own.add(() => engine.close());
  const config = { ...place.config, PORT: 0, RATE_LIMITS: false }; // rate limits would stop the flood and the publishes
  const passwords = openPasswords({ cost });
  own.add(() => passwords.close());
  const api = await startApi({ engine, config, clock: systemClock, log: openLogger('test', 'silent'), passwords });
  own.add(() => api.close());
  url = api.url;
  const owner = await engine.documents.insert(users, newUser());
  topicName = (await engine.documents.insert(topics, newTopic(owner.id))).name;
  const now = Date.now();
  const login = await engine.documents.insert(loginSessions, {
    id: newId(),
    userId: owner.id,
    refreshHash: newId(),
    refreshedAt: null,
    refresherHash: null,
    address: null,
    userAgent: null,
    createdAt: now,
    expiresAt: now + 3_600_000,
  });
  const tokens = accessTokens(engine.jwtSecrets, systemClock);
  newToken = () =>
    tokens.sign({ userId: owner.id, sessionId: login.id, id: newId(), issuedAt: Date.now(), lifetimeSeconds: 3_600 });
});
afterAll(() => own.closeAll());

let guesses = 0;

async function guess(): Promise<void> {
  guesses += 1;
  const body = JSON.stringify({ email: `nobody-${guesses}@example.org`, password: 'a guess' });
  const { status } = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  });
  if (status !== 401) throw new Error(`a guess returned ${status}`);
}

/** Returns the duration of each publish in milliseconds. */
async function publishSome(): Promise<number[]> {
  const tookMs: number[] = [];
  const tokens = await Promise.all(Array.from({ length: publishesPerRound }, newToken));
  for (const token of tokens) {
    const startedAt = performance.now();
    const { status } = await fetch(`${url}/${topicName}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
      body: 'the pump stopped',
    });
    tookMs.push(performance.now() - startedAt);
    if (status !== 200) throw new Error(`a publish returned ${status}`);
    await nextTurn();
  }
  return tookMs;
}

/** Runs the work during a constant number of concurrent logins, and waits for the last login. */
async function duringFlood<T>(work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const guessers = Array.from({ length: concurrentLogins }, async () => {
    while (!isOver) await guess();
  });
  try {
    return await work();
  } finally {
    isOver = true;
    await Promise.all(guessers);
  }
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;

/** The ratios of durations with and without the flood. */
interface Slowdown {
  readonly p50: number;
  readonly p99: number;
}

function slowdownOf(calm: readonly number[], flooded: readonly number[]): Slowdown {
  const at = (share: number): number => quantile(flooded, share) / quantile(calm, share);
  return { p50: at(0.5), p99: at(0.99) };
}

const calmer = (ratios: readonly number[]): number => quantile(ratios, 0.25);

test('publishing stays usable during a flood of logins', async () => {
  await publishSome(); // warm-up
  const slowdowns: Slowdown[] = [];
  for (let round = 0; round < rounds; round += 1)
    slowdowns.push(slowdownOf(await publishSome(), await duringFlood(publishSome)));
  // Measured: up to 1.6 at the median, and up to 8 next to other test suites. Without the limit on hashes: 82 to 132,
  // because a publish with an uncached token waits for the hashes. Other load can affect one half of a round only, so
  // the calmer rounds decide.
  expect(calmer(slowdowns.map(({ p50 }) => p50))).toBeLessThan(12);
  expect(calmer(slowdowns.map(({ p99 }) => p99))).toBeLessThan(20);
}, 240_000);
