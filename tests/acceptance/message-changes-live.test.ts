import { get, type IncomingMessage } from 'node:http';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { WebSocket } from 'ws';
import { createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { asReader } from '../support/as-reader.ts';

const stack = useStack();
let owner: Person;
let own = closers();
beforeAll(async () => {
  owner = await stack.person({ tier: 'ESSENTIALS' });
});
afterEach(async () => {
  await own.closeAll();
  own = closers();
});

interface LiveEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: Record<string, unknown>;
}

/** Opens an SSE stream of a topic on the last node. Resolves after `ready` with the received events. */
async function followSse(name: string, query = ''): Promise<LiveEvent[]> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(
      `${testStack().urls.at(-1)}/${name}/sse${query}`,
      { agent: false, headers: { 'X-Forwarded-For': newAddress() } },
      resolve,
    ).on('error', reject);
  });
  own.add(() => void response.destroy());
  const events: LiveEvent[] = [];
  let text = '';
  let isReady = false;
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop()!;
    for (const part of parts) {
      const field = (of: string) => new RegExp(`^${of}: ?(.*)$`, 'm').exec(part)?.[1];
      const event = field('event');
      if (event === 'ready') isReady = true;
      else if (event !== undefined && event !== 'ping')
        events.push({ event, id: field('id'), data: JSON.parse(field('data')!) as Record<string, unknown> });
    }
  });
  await eventually(() => isReady);
  return events;
}

/** Opens a WebSocket stream of a topic on the first node. Resolves after `ready` with the received frames. */
async function followWebSocket(name: string): Promise<Record<string, unknown>[]> {
  const socket = new WebSocket(`${testStack().urls[0]!.replace('http', 'ws')}/${name}/ws`, {
    headers: { 'X-Forwarded-For': newAddress() },
  });
  own.add(() => socket.terminate());
  const frames: Record<string, unknown>[] = [];
  let isReady = false;
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as Record<string, unknown>;
    if (frame['type'] === 'ready') isReady = true;
    else if (frame['type'] !== 'ping') frames.push(frame);
  });
  await eventually(() => isReady);
  return frames;
}

test('open streams get edits and deletions as separate events, in order, without an ID', async () => {
  const topic = await createTopic(owner);
  const events = await followSse(topic.name);
  const frames = await followWebSocket(topic.name);
  const message = asReader((await owner.publish(topic.name, 'first')).body);
  const path = `/api/${topic.name}/messages/${message.id}`;
  await eventually(() => events.length > 0 && frames.length > 0);
  const { edited_at } = (await owner.patch(path, { message: 'second' })).body;
  await eventually(() => events.length > 1 && frames.length > 1);
  const { deleted_at } = (await owner.delete(path)).body;
  await eventually(() => events.length > 2 && frames.length > 2);
  const after = { ...message, message: 'second', is_edited: true, edited_at };
  const gone = { ...after, message: '', title: null, tags: [], is_deleted: true, deleted_at };
  expect(events).toEqual([
    { event: 'message', id: message.id, data: message },
    { event: 'message_edited', id: undefined, data: after },
    { event: 'message_deleted', id: undefined, data: gone },
  ]);
  expect(frames).toEqual([
    { type: 'message', ...message },
    { type: 'message_edited', ...after },
    { type: 'message_deleted', ...gone },
  ]);
});

test('a resumed stream gets messages in their current form and no changes of earlier messages', async () => {
  const topic = await createTopic(owner);
  const ids: string[] = [];
  for (const text of ['one', 'two', 'three', 'four'])
    ids.push((await owner.publish(topic.name, text)).body.id as string);
  const path = (index: number) => `/api/${topic.name}/messages/${ids[index]}`;
  await owner.patch(path(0), { message: 'ONE' });
  await owner.patch(path(2), { message: 'THREE' });
  await owner.delete(path(1));
  await owner.delete(path(3));
  const events = await followSse(topic.name, `?since_id=${ids[0]}`);
  const { body: last } = await owner.publish(topic.name, 'five');
  await eventually(() => events.at(-1)?.data['id'] === last.id);
  expect(events.map(({ event, id, data }) => [event, id, data['message']])).toEqual([
    ['message', ids[2], 'THREE'],
    ['message', last.id, 'five'],
  ]);
});

test('open streams get acknowledgements and withdrawals as separate events, in order, without an ID', async () => {
  const topic = await createTopic(owner);
  const events = await followSse(topic.name);
  const frames = await followWebSocket(topic.name);
  const message = asReader((await owner.publish(topic.name, 'pump stopped')).body);
  const path = `/api/messages/${message.id}/ack`;
  await eventually(() => events.length > 0 && frames.length > 0);
  const { acknowledged_at, acknowledged_by } = (await owner.post(path, { note: 'on my way' })).body;
  await eventually(() => events.length > 1 && frames.length > 1);
  expect((await owner.delete(path)).status).toBe(204);
  await eventually(() => events.length > 2 && frames.length > 2);
  const taken = { ...message, acknowledged_at, acknowledged_by };
  expect(acknowledged_by).toEqual({ kind: 'account', name: owner.user.username });
  expect(events).toEqual([
    { event: 'message', id: message.id, data: message },
    { event: 'message_acknowledged', id: undefined, data: taken },
    { event: 'message_unacknowledged', id: undefined, data: message },
  ]);
  expect(frames).toEqual([
    { type: 'message', ...message },
    { type: 'message_acknowledged', ...taken },
    { type: 'message_unacknowledged', ...message },
  ]);
});
