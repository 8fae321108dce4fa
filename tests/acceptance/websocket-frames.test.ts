import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { WebSocket } from 'ws';
import { createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { asReader } from '../support/as-reader.ts';

const stack = useStack();

/** A stream gets this every 25 seconds, so it may arrive during a test. */
const pingFrame = JSON.stringify({ type: 'ping' });

async function connect(path: string) {
  const socket = new WebSocket(testStack().urls[0]!.replace('http', 'ws') + path, {
    headers: { 'X-Forwarded-For': newAddress() },
  });
  const frames: { data: Buffer; isBinary: boolean }[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    if (data.toString() !== pingFrame) frames.push({ data, isBinary });
  });
  const code = new Promise<number>((resolve) => socket.once('close', resolve));
  await eventually(() => frames.length > 0);
  return {
    socket,
    frames,
    code,
    parsed: () => frames.map(({ data }) => JSON.parse(data.toString()) as { type: string; message?: string }),
  };
}

test('frames are text with the flat message object and its type', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  for (const path of [`/${name}/ws`, `/ws?topics=${name}`]) {
    const { socket, frames, parsed } = await connect(path);
    const { body } = await owner.publish(name, '{"type":"ping"}');
    await eventually(() => frames.length === 2);
    expect(parsed()[1]).toEqual({ type: 'message', ...asReader(body) });
    expect(frames.map(({ isBinary }) => isBinary)).toEqual([false, false]);
    socket.terminate();
  }
});

test('ignores text, bytes and pings of clients up to 64 KiB', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  const { socket, frames, parsed } = await connect(`/${name}/ws`);
  let pongs = 0;
  socket.on('pong', () => (pongs += 1));
  for (const data of ['hello', '{"type":"message"}', '', Buffer.alloc(10), 'x'.repeat(64 * 1024)]) socket.send(data);
  socket.ping('are you there');
  await eventually(() => pongs === 1);
  await owner.publish(name, 'after all that');
  await eventually(() => frames.length === 2);
  expect(parsed()[1]!.message).toBe('after all that');
  socket.terminate();
});

test.each(['/ws', '/:topic/ws'])('a frame beyond 64 KiB closes %s with 1009, also in fragments', async (path) => {
  const { name } = await createTopic(await stack.person());
  const of = path === '/ws' ? `/ws?topics=${name}` : `/${name}/ws`;
  const whole = await connect(of);
  whole.socket.send('x'.repeat(64 * 1024 + 1));
  expect(await whole.code).toBe(1009);
  const inPieces = await connect(of);
  for (let sent = 0; sent < 5; sent += 1) inPieces.socket.send('x'.repeat(16 * 1024), { fin: sent === 4 });
  expect(await inPieces.code).toBe(1009);
});

test("answers a client's close with the same code", async () => {
  const { name } = await createTopic(await stack.person());
  const { socket, code } = await connect(`/${name}/ws`);
  socket.close(1000);
  expect(await code).toBe(1000);
});
