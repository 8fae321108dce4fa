import { expect } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Client } from '../support/stack.ts';
import type { StreamsUse } from '../support/use-streams.ts';

/** All kinds of positions that a client can hold after a message of a topic. */
export interface HeldPositions {
  readonly topic: string;
  readonly messageId: string;
  readonly composite: string;
  readonly nextOffset: number;
  readonly consumer: string;
}

interface Reader {
  readonly urls: readonly string[];
  readonly token: string;
}

/**
 * Collects the positions after the topic's `count`th message; `consumer` is the name of the position stored by the
 * server.
 */
export async function holdPositions({ urls, token }: Reader, topic: string, count: number): Promise<HeldPositions> {
  const client = new Client(token, urls);
  let nextOffset = 0;
  let last: { message: { id: string } } | undefined;
  for (let left = count; left > 0;) {
    const { body } = await client.call(
      'GET',
      `/api/topics/${topic}/log?from_offset=${nextOffset}&limit=${Math.min(left, 1_000)}&wait=30`,
    );
    const records = body.records as { message: { id: string } }[];
    if (records.length === 0) throw new Error(`${topic} has ${count - left} records, not ${count}`);
    [last, nextOffset, left] = [records.at(-1)!, body.next_offset as number, left - records.length];
  }
  const consumer = `held-${count}`;
  expect(
    (await client.call('PUT', `/api/topics/${topic}/consumers/${consumer}`, { json: { offset: nextOffset } })).status,
  ).toBe(200);
  return { topic, messageId: last!.message.id, composite: `${topic}:${last!.message.id}`, nextOffset, consumer };
}

/** Continues from each of the positions and expects exactly the messages with these IDs, in this order. */
export async function expectToGoOn(
  streams: StreamsUse,
  reader: Reader,
  { held, ids }: { held: HeldPositions; ids: readonly string[] },
): Promise<void> {
  const { topic, messageId, composite, nextOffset, consumer } = held;
  const { token } = reader;
  const opened = await Promise.all([
    streams.sse(`/${topic}/sse`, { token, headers: { 'Last-Event-ID': messageId } }),
    streams.sse(`/${topic}/sse?since_id=${messageId}`, { token }),
    streams.sse(`/sse?topics=${topic}`, { token, headers: { 'Last-Event-ID': composite } }),
    streams.ws(`/${topic}/ws?since_id=${messageId}`, { token }),
  ]);
  for (const stream of opened) {
    expect(await stream.ready()).toMatchObject({ recovered: true });
    await eventually(() => expect(stream.ofType('message').length).toBeGreaterThanOrEqual(ids.length));
    expect(stream.ofType('message').map(({ data }) => data.id as string)).toEqual(ids);
    stream.close();
  }
  // The streams received everything, so it is below the watermark.
  expect(await readLog(reader, topic, `from_offset=${nextOffset}`)).toEqual(ids);
  expect(await readLog(reader, topic, `consumer=${consumer}`)).toEqual(ids);
  expect(await readSince(reader, topic, messageId)).toEqual(ids);
}

async function readLog({ urls, token }: Reader, topic: string, from: string): Promise<string[]> {
  const client = new Client(token, urls);
  const ids: string[] = [];
  for (let query = from; ;) {
    const { body } = await client.call('GET', `/api/topics/${topic}/log?${query}&limit=300`);
    if (body.records.length === 0) return ids;
    ids.push(...body.records.map(({ message }: { message: { id: string } }) => message.id));
    query = `from_offset=${body.next_offset}`;
  }
}

async function readSince({ urls, token }: Reader, topic: string, since: string): Promise<string[]> {
  const client = new Client(token, urls);
  const ids: string[] = [];
  for (let at = since; ;) {
    const { body } = await client.call('GET', `/${topic}/json?since=${at}&limit=100`);
    if (body.messages.length === 0) return ids;
    ids.push(...body.messages.map(({ id }: { id: string }) => id));
    at = ids.at(-1)!;
  }
}
