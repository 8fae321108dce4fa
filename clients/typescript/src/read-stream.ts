import type { Connection } from './connection.ts';
import { sleep } from './sleep.ts';
import { TocsinError } from './tocsin-error.ts';

/** The server sends something on every stream at least every 25 seconds. */
const silenceMs = 60_000;

/** Ends the retries of a stream that breaks each time before its first byte. */
const breaksMax = 10;

const reconnectMsMax = 500;

export interface StreamOptions<T> {
  /** The path of the stream, from the position after all that `parse` has returned. */
  readonly path: () => string;
  readonly accept: string;
  /** Reads the text of one connection and keeps track of the position. */
  readonly parse: (texts: AsyncIterable<string>) => AsyncIterable<T>;
  /** Whether to reconnect when the server ends the stream. */
  readonly isEndless: boolean;
  readonly signal: AbortSignal | undefined;
}

class ConnectionLost extends Error {}

/**
 * Reads a stream to its end; one without an end until the caller stops. Reconnects when the connection breaks, is
 * silent for a minute, or cannot be made. A stream with an end throws after the retry time of the client, or when ten
 * connections in a row break before their first byte.
 */
export async function* readStream<T>(connection: Connection, options: StreamOptions<T>): AsyncGenerator<T, void> {
  const { path, accept, parse, isEndless, signal } = options;
  for (let breaks = 0; ;) {
    signal?.throwIfAborted();
    const ended = new AbortController();
    const either = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
    try {
      const response = await connection.retry(
        () => connection.request(path(), { headers: { Accept: accept }, signal: either }),
        { signal, ...(isEndless && { forMs: Infinity }) },
      );
      yield* parse(readTexts(response, { onText: () => (breaks = 0), end: () => ended.abort() }));
      if (!isEndless) return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ConnectionLost)) throw error;
      breaks += 1;
      if (!isEndless && breaks === breaksMax)
        throw new TocsinError('The connection broke ten times before the first byte of the response', {
          status: null,
          retryAfterMs: null,
        });
    } finally {
      // Also closes the connection when the caller leaves the loop.
      ended.abort();
    }
    await sleep(reconnectMsMax * Math.random(), signal);
  }
}

/** The texts of a response. Throws ConnectionLost if it breaks, or is silent and therefore ended. */
async function* readTexts(
  response: Response,
  { onText, end }: { readonly onText: () => void; readonly end: () => void },
): AsyncGenerator<string, void> {
  // Not every browser can iterate over a stream.
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const timer = setTimeout(end, silenceMs);
    const next = await reader
      .read()
      .catch((error: unknown) => {
        throw new ConnectionLost('The connection was lost', { cause: error });
      })
      .finally(() => clearTimeout(timer));
    if (next.done) return;
    onText();
    yield next.value;
  }
}
