import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { streamSessions } from '@tocsin/shared/collections/stream-sessions.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic } from '../support/stack.ts';
import { useStack, type Caller } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';
import { transports, useStreams } from '../support/use-streams.ts';

const stack = useStack();
const store = useStore();
const streams = useStreams();
const path = '/api/sse/sessions';
const badCredential = { status: 401, body: { detail: 'Could not validate credentials' } };

async function make(caller: Caller, body: object): Promise<string> {
  const made = await caller.post(path, body);
  expect(made.status).toBe(200);
  return made.body.session_id as string;
}

/** The stored session. */
async function stored(sessionId: string) {
  return (await store.documents().get(streamSessions, createHash('sha256').update(sessionId).digest('hex')))!;
}

async function setEnd(sessionId: string, expiresAt: number): Promise<void> {
  await retryStale(async () => store.documents().update(streamSessions, await stored(sessionId), { expiresAt }));
}

test.each(transports)('returns 401 for an unknown or expired session over %s', async (transport) => {
  const owner = await stack.person();
  const session = await make(owner, { topics: [(await createTopic(owner)).name] });
  const open = (id: string) => streams.open(transport, { query: `?session=${id}` });
  expect(await open('nonsense')).toMatchObject({ ...badCredential, headers: { 'www-authenticate': 'Bearer' } });
  expect(await open(`${session}x`)).toMatchObject(badCredential);
  await setEnd(session, Date.now());
  expect(await open(session)).toMatchObject(badCredential);
});

test('a session lives while it has an open stream and for 300 seconds after the last one', async () => {
  const owner = await stack.person();
  const session = await make(owner, { topics: [(await createTopic(owner)).name] });
  await setEnd(session, Date.now() + 10_000);
  const all = [await streams.sse(`/sse?session=${session}`), await streams.ws(`/ws?session=${session}`, { node: 1 })];
  await eventually(async () => expect((await stored(session)).expiresAt).toBeGreaterThan(Date.now() + 320_000));
  await setEnd(session, Date.now() + 10_000);
  const endedAt = Date.now();
  for (const stream of all) stream.close();
  await eventually(async () => expect((await stored(session)).expiresAt).toBeGreaterThanOrEqual(endedAt + 300_000));
  await eventually(async () => expect((await stored(session)).expiresAt).toBeLessThanOrEqual(Date.now() + 300_000));
});
