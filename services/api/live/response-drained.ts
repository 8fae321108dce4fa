import type { ServerResponse } from 'node:http';

/** Resolves when the client has received the written data or disconnected. */
export function responseDrained(response: ServerResponse): Promise<void> {
  // Chunks that are written to the socket itself do not count for the response.
  const { socket } = response;
  if (socket === null || !socket.writableNeedDrain || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done);
      response.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    response.on('close', done);
  });
}
