import { setTimeout as sleep } from 'node:timers/promises';

/** A server and the credential of its caller. */
export interface Server {
  readonly url: string;
  /** Absent for anonymous requests. */
  readonly token?: string;
  /** Whether `tocsin login` stored the token. */
  readonly isStored?: boolean;
}

/** The server rejected a request or did not respond. */
export class Refusal extends Error {
  /** When to retry; null if a retry cannot succeed. */
  readonly retryAfterMs: number | null;
  /** The status of the response; null without one. */
  readonly status: number | null;

  constructor(message: string, retryAfterMs: number | null, status: number | null = null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.status = status;
  }
}

/** Statuses after which a retry may succeed. */
const retryable = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Sends a request and returns the 2xx response. Throws `Refusal` with the server's `detail` for any other. */
export async function ask({ url, token, isStored }: Server, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
  const answer = await fetch(new URL(path, url), { ...init, headers }).catch((error: unknown) => {
    throw new Refusal(`${url} does not respond: ${reasonOf(error)}`, 0);
  });
  if (answer.ok) return answer;
  const { detail } = (await answer.json().catch(() => ({}))) as { detail?: string };
  const said = typeof detail === 'string' ? detail : `${answer.status} ${answer.statusText}`;
  if (answer.status === 401 && isStored === true)
    throw new Refusal(`${said}: run \`tocsin login\` to replace the stored credential`, null, answer.status);
  const retryAfterMs = retryable.has(answer.status) ? Number(answer.headers.get('Retry-After') ?? 0) * 1_000 : null;
  throw new Refusal(said, retryAfterMs, answer.status);
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const { code } = (cause ?? {}) as { code?: string };
  return code ?? (cause instanceof Error ? cause.message : message);
}

const pauseMs = { first: 500, most: 30_000 };

/**
 * Retries a retryable refusal for `patienceMs`: at the time that `Retry-After` names, otherwise with exponential
 * backoff. Reports the first retry on standard error. Throws the last refusal.
 */
export async function patiently<T>(
  patienceMs: number,
  attempt: () => Promise<T>,
  say = (line: string): void => void process.stderr.write(`${line}\n`),
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let pause = pauseMs.first; ; pause = Math.min(2 * pause, pauseMs.most)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Refusal) || error.retryAfterMs === null) throw error;
      const waitMs = Math.max(error.retryAfterMs, pause * (0.5 + Math.random() / 2));
      if (performance.now() + waitMs > deadline) throw error;
      if (pause === pauseMs.first) say(`${error.message}; retrying`);
      await sleep(waitMs);
    }
  }
}

/** The server sends something on every stream at least every 25 seconds. */
const silenceMs = 60_000;

/** Ends the retries of a stream that breaks each time. */
const breaksMax = 10;

export interface ReadStream {
  /** Requests the stream, starting after what `read` has processed. */
  readonly open: (signal: AbortSignal) => Promise<Response>;
  /** Processes the text chunks of the stream and tracks the offset. */
  readonly read: (texts: AsyncIterable<string>) => Promise<void>;
  /** Whether to reconnect after the server ended the stream. */
  readonly isEndless: boolean;
}

/**
 * Reads a stream to its end, or until the process exits if it is endless. Reconnects if the connection breaks or is
 * silent for a minute. Throws for a stream with an end after 30 seconds without a response, or if the stream breaks ten
 * times in a row before its first byte.
 */
export async function readStream({ open, read, isEndless }: ReadStream): Promise<void> {
  let breaks = 0;
  for (;;) {
    const silence = new AbortController();
    const answer = await patiently(isEndless ? Infinity : pauseMs.most, () => open(silence.signal));
    try {
      await read(withSilenceLimit(answer, silence, () => (breaks = 0)));
      if (!isEndless) return;
    } catch (error) {
      if (!isBroken(error)) throw error;
      breaks += 1;
      if (!isEndless && breaks === breaksMax)
        throw new Refusal('The connection broke ten times before the first byte of the response', null);
    }
    await sleep(pauseMs.first * Math.random());
  }
}

async function* withSilenceLimit(
  answer: Response,
  silence: AbortController,
  onText: () => void,
): AsyncGenerator<string> {
  const timer = setTimeout(() => silence.abort(), silenceMs);
  try {
    for await (const text of answer.body!.pipeThrough(new TextDecoderStream())) {
      timer.refresh();
      onText();
      yield text;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the connection broke, as opposed to a fault of this program. */
function isBroken(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'AbortError' || (name === 'TypeError' && message === 'terminated');
}
