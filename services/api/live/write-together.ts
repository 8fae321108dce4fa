import type { Writable } from 'node:stream';

const uncork = (socket: Writable): void => socket.uncork();

/** Writes the bytes to the socket, in one system call with all others of the same turn. The bytes are retained. */
export function writeTogether(socket: Writable, bytes: Buffer): void {
  if (socket.writableCorked === 0) {
    socket.cork();
    process.nextTick(uncork, socket);
  }
  socket.write(bytes);
}
