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
/** Alternates between rounds with and without the flood, so that other load on the machine affects both. */
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

/** The ratio of durations with and without the flood at a quantile. */
const slowdown = (calm: readonly number[], flooded: readonly number[], share: number): number =>
  quantile(flooded, share) / quantile(calm, share);

test('publishing stays usable during a flood of logins', async () => {
  await publishSome(); // warm-up
  const calm: number[] = [];
  const flooded: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    calm.push(...(await publishSome()));
    flooded.push(...(await duringFlood(publishSome)));
  }
  // Measured: 1.2 and 2.1 on two idle cores, 2.5 and 5 on a machine with ten runnable processes per core. Without the
  // limit on hashes: 20 and more, because a publish with an uncached token waits for the hashes.
  expect(slowdown(calm, flooded, 0.5)).toBeLessThan(6);
  expect(slowdown(calm, flooded, 0.99)).toBeLessThan(20);
}, 240_000);
