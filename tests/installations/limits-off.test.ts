import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { mailsTo } from '../support/mailbox.ts';
import { newRegistration } from '../support/registration.ts';
import { Client, createAccount, createTopic } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

// RATE_LIMITS=off. All requests come from one address, because X-Forwarded-For is not trusted here.
const { stack, store } = await useOwnStack({ RATE_LIMITS: 'off' }, 'nodes');
const anybody = new Client(undefined, stack.urls);

const times = <T>(count: number, act: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, act));
const allOf = (count: number, status: number): number[] => Array<number>(count).fill(status);

test('each API node logs it', async () => {
  expect(stack.nodes).toHaveLength(stack.urls.length);
  for (const { logFile } of stack.nodes) {
    const lines = (await readFile(logFile, 'utf8')).split('\n').filter((line) => line.includes('RATE_LIMITS is off'));
    expect(lines.map((line) => (JSON.parse(line) as { level: unknown }).level)).toEqual(['warn']);
  }
});

test('an address and a FREE account exceed their limits, and responses have no rate limit headers', async () => {
  const account = await createAccount(store, { urls: stack.urls });
  const topic = await createTopic(account);
  const answers = [
    ...(await times(65, () => anybody.call('GET', '/api/topics'))),
    ...(await times(15, () =>
      account.client.call('POST', `/${topic.name}`, { text: 'beyond the budget of a minute' }),
    )),
  ];
  expect(answers.map(({ status }) => status)).toEqual(allOf(80, 200));
  expect(
    answers.flatMap(({ headers }) => [...headers.keys()]).filter((name) => name.startsWith('x-ratelimit')),
  ).toEqual([]);
});

test('failed logins do not block logins', async () => {
  const { email, password } = await createAccount(store, { urls: stack.urls });
  const guesses = await times(8, () => anybody.call('POST', '/auth/login', { json: { email, password: 'a guess' } }));
  expect(guesses.map(({ status }) => status)).toEqual(allOf(8, 401));
  expect((await anybody.call('POST', '/auth/login', { json: { email, password } })).status).toBe(200);
});

test('every requested email is sent', async () => {
  const { email, ...registration } = newRegistration();
  expect((await anybody.call('POST', '/auth/register', { json: { email, ...registration } })).status).toBe(201);
  await times(7, () => anybody.call('POST', '/auth/resend-verification', { json: { email } }));
  await eventually(async () => expect(await mailsTo(email, 'verify-email', stack)).toHaveLength(8));
});

test('an address opens more than 50 streams', async () => {
  const topic = await createTopic(await createAccount(store, { urls: stack.urls }));
  const leaving = new AbortController();
  const streams = await times(55, () => fetch(`${stack.urls[0]!}/${topic.name}/sse`, { signal: leaving.signal }));
  leaving.abort();
  expect(streams.map(({ status }) => status)).toEqual(allOf(55, 200));
});
