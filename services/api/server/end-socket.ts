import type { Duplex } from 'node:stream';

/** How long a client may take to read the last response and close. */
const lingerMs = 1_000;

/**
 * Sends the text, if any, and closes the connection. Destroys the socket after one second even if the client neither
 * reads nor closes, so that it frees its descriptor. Node keeps an ended socket until the client closes it as well.
 */
export function endSocket(socket: Duplex, text?: string): void {
  socket.on('error', () => socket.destroy());
  socket.resume(); // unread input would turn the close into a reset, which can lose the response
  if (text === undefined) socket.end();
  else socket.end(text);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
