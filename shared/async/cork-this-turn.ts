import type { Writable } from 'node:stream';

const uncork = (socket: Writable): void => socket.uncork();

/** Makes all writes to the socket in this turn of the event loop one system call. They are sent when it ends. */
export function corkThisTurn(socket: Writable): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  process.nextTick(uncork, socket);
}
