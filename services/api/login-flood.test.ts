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

/** A hash takes some 20 ms: ten publishes, and short enough for a flood to end soon. The gate is the same for any cost. */
const cost = 8;
/** Logins under way at a time: fewer than the gate lets wait, so that each costs a hash, and some 50 a second are answered. */
const loginsAtOnce = 25;
/** By turns with and without the flood, so that whatever else the machine does is in both. */
const rounds = 8;
const publishesARound = 50;

let own: Closers;
let url: string;
let topicName: string;
/** A credential that the node has not seen: to verify it takes libuv's threads, which hashes must not hold. */
let newToken: () => Promise<string>;

beforeAll(async () => {
  own = closers();
  const place = newTestPlace();
  own.add(() => place.remove());
  const engine = await openTestEngine(place);
  own.add(() => engine.close());
  const config = { ...place.config, PORT: 0, RATE_LIMITS: false }; // which would end the flood, and soon the publishes
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
    createdAt: now,
    expiresAt: now + 3_600_000,
  });
  const tokens = accessTokens(engine.jwtSecrets, systemClock);
  newToken = () => tokens.sign(owner.id, login.id);
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
  if (status !== 401) throw new Error(`a guess was answered ${status}`);
}

/** How long each publish took, in milliseconds. */
async function publishSome(): Promise<number[]> {
  const tookMs: number[] = [];
  const tokens = await Promise.all(Array.from({ length: publishesARound }, newToken));
  for (const token of tokens) {
    const startedAt = performance.now();
    const { status } = await fetch(`${url}/${topicName}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
      body: 'the pump stopped',
    });
    tookMs.push(performance.now() - startedAt);
    if (status !== 200) throw new Error(`a publish was answered ${status}`);
    await nextTurn();
  }
  return tookMs;
}

/** Runs the work beside as many logins as there may be, each followed by the next, and waits for the last of them. */
async function besideFlood<T>(work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const guessers = Array.from({ length: loginsAtOnce }, async () => {
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

/** How many times as long the flooded ones took, at a quantile. */
const slowdown = (calm: readonly number[], flooded: readonly number[], share: number): number =>
  quantile(flooded, share) / quantile(calm, share);

test('publishing stays usable beside a flood of logins', async () => {
  await publishSome(); // the first ones take longer
  const calm: number[] = [];
  const flooded: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    calm.push(...(await publishSome()));
    flooded.push(...(await besideFlood(publishSome)));
  }
  // Two cores with little beside it showed 1.2 and 2.1, one that ten times as many programs want as it has cores 2.5 and 5; without
  // the bound on hashes it is 20 and more, since a publish with a token that is new here waits behind them.
  expect(slowdown(calm, flooded, 0.5)).toBeLessThan(6);
  expect(slowdown(calm, flooded, 0.99)).toBeLessThan(20);
}, 240_000);
