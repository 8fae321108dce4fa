import { afterEach } from '@jest/globals';
import { WebSocket } from 'ws';
import { newAddress, testStack } from './stack.ts';

export interface OpenStream {
  /** Resolves with the close code of the stream. */
  readonly code: Promise<number>;
  /** The frames received so far, starting with `ready`. */
  frames(): readonly object[];
  close(): void;
}

const sockets: WebSocket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate();
});

/**
 * Opens a WebSocket stream of the path, on the last API node by default. Resolves when it is ready. It closes with the
 * test.
 */
export async function openStream(path: string, node = -1): Promise<OpenStream> {
  const { urls } = testStack();
  const socket = new WebSocket(urls.at(node % urls.length)!.replace('http', 'ws') + path, {
    headers: { 'X-Forwarded-For': newAddress() },
  });
  sockets.push(socket);
  const frames: object[] = [];
  socket.on('message', (data) => frames.push(JSON.parse((data as Buffer).toString('utf8')) as object));
  const code = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise<void>((resolve, reject) => socket.once('error', reject).once('message', () => resolve()));
  return { code, frames: () => frames, close: () => socket.close() };
}
