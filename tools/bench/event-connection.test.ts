import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { EventConnection, type Transport } from './event-connection.ts';

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server that writes the bytes to each client in chunks of the given size, one chunk per event loop turn. */
async function serve(bytes: Buffer, pieceSize: number): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).resume();
    const writeFrom = (at: number): void => {
      if (at < bytes.length)
        socket.write(bytes.subarray(at, at + pieceSize), () => setImmediate(writeFrom, at + pieceSize));
    };
    writeFrom(0);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  return (server.address() as AddressInfo).port;
}

async function textsOf(transport: Transport, bytes: Buffer, pieceSize: number): Promise<string[]> {
  const port = await serve(bytes, pieceSize);
  const texts: string[] = [];
  const connection = await EventConnection.open({ port, path: '/t/sse', transport }, (read, at) =>
    texts.push(read.toString('latin1', at, at + 5)),
  );
  closers.push(() => connection.close());
  await eventually(() => expect(texts.at(-1)).toBe('last!'));
  return texts;
}

const texts = ['first', 'again', 'again', 'last!'];
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const frame = (text: string) =>
  Buffer.concat([
    text.length < 126
      ? Buffer.from([0x81, text.length])
      : Buffer.from([0x81, 126, text.length >> 8, text.length & 0xff]),
    Buffer.from(text),
  ]);

const eventStream = Buffer.from(
  [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    chunk('retry: 2000\nevent: ready\ndata: {}\n\n'),
    chunk('event: ping\ndata:\n\n'),
    ...texts.map((text) => chunk(`id: 1\nevent: message\ndata: {"message":"${text}"}\n\n`)),
  ].join(''),
);
const frames = Buffer.concat([
  Buffer.from('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n'),
  frame('{"type":"ready"}'),
  Buffer.from([0x89, 0]),
  ...texts.map((text) => frame(`{"type":"message","message":"${text}${'x'.repeat(text === 'again' ? 200 : 0)}"}`)),
]);

test.each([1, 7, 100_000])('reads each message of an event stream once, in chunks of %i bytes', async (pieceSize) => {
  expect(await textsOf('sse', eventStream, pieceSize)).toEqual(texts);
});

test.each([1, 7, 100_000])(
  'reads each message in short and long WebSocket frames once, in chunks of %i bytes',
  async (pieceSize) => {
    expect(await textsOf('ws', frames, pieceSize)).toEqual(texts);
  },
);

test('rejects with the response if the server refuses the stream', async () => {
  const port = await serve(Buffer.from('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'), 1_000);
  await expect(EventConnection.open({ port, path: '/t/sse', transport: 'sse' }, () => undefined)).rejects.toThrow(
    '404 Not Found',
  );
});
