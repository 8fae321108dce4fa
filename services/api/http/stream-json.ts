import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RequestContext } from './route.ts';

/**
 * Answers 200 with a JSON document that is made while it is sent: the next piece is asked for when the client has taken
 * the last, so that no more than a piece or two are in memory, and none any more once the client has gone. A piece that
 * fails breaks the connection off, so that nobody takes half a document for a whole one, and rejects.
 */
export async function streamJson(
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
