import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RequestContext } from './route.ts';

/**
 * Sends 200 with a text, by default JSON, that is generated while sending: requests the next piece when the client has
 * received the last, so that at most two pieces are in memory, and none after a disconnect. A failing piece destroys
 * the connection, so that a truncated document is detected, and rejects.
 */
export async function streamText(
  { request, response }: Pick<RequestContext, 'request' | 'response'>,
  pieces: AsyncIterable<string>,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'application/json', ...headers });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  try {
    await pipeline(Readable.from(pieces, { highWaterMark: 1 }), response);
  } catch (error) {
    const hasClientGone = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!hasClientGone) throw error;
  }
}
