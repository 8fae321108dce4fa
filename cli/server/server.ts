import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerOptions } from '../options/server-options.ts';

/** A request that the server did not grant. */
export class Refusal extends Error {
  /** When it may be granted; null when it will not be. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Statuses that say nothing about the request itself. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Asks the server and returns its answer, a 2xx; throws `Refusal` with what the server says is wrong. */
export async function ask({ url, token }: ServerOptions, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
  const answer = await fetch(new URL(path, url), { ...init, headers }).catch((error: unknown) => {
    throw new Refusal(`${url} does not answer: ${reasonOf(error)}`, 0);
  });
  if (answer.ok) return answer;
  const { detail } = (await answer.json().catch(() => ({}))) as { detail?: string };
  const said = typeof detail === 'string' ? detail : `${answer.status} ${answer.statusText}`;
  throw new Refusal(said, passing.has(answer.status) ? Number(answer.headers.get('Retry-After') ?? 0) * 1_000 : null);
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const { code } = (cause ?? {}) as { code?: string };
  return code ?? (cause instanceof Error ? cause.message : message);
}

const pauseMs = { first: 500, most: 30_000 };

/**
 * Tries again for `patienceMs` what the server refuses for now, at the times that it names, and at growing intervals where
 * it names none. Says on standard error, once, that it waits. Throws the last refusal.
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
      if (pause === pauseMs.first) say(`${error.message}; trying on`);
      await sleep(waitMs);
    }
  }
}

/** The server sends something on every stream at least every 25 seconds. */
const silenceMs = 60_000;

/** Harm prevented: asking for ever for a stream that breaks each time. */
const breaksMax = 10;

export interface ReadStream {
  /** Asks for the stream, from where `read` has come to. */
  readonly open: (signal: AbortSignal) => Promise<Response>;
  /** Takes the texts of the stream as they come, and remembers where it is. */
  readonly read: (texts: AsyncIterable<string>) => Promise<void>;
  /** Whether an orderly end of the stream is not the end either. */
  readonly isEndless: boolean;
}

/**
 * Reads a stream to its end, or for as long as this process lives. It is asked for again when it breaks or is silent for a
 * minute. A stream with an end is given up after half a minute without an answer, and when it breaks ten times in a row
 * before its first byte.
 */
export async function readStream({ open, read, isEndless }: ReadStream): Promise<void> {
  let breaks = 0;
  for (;;) {
    const silent = new AbortController();
    const answer = await patiently(isEndless ? Infinity : pauseMs.most, () => open(silent.signal));
    try {
      await read(heard(answer, silent, () => (breaks = 0)));
      if (!isEndless) return;
    } catch (error) {
      if (!isBroken(error)) throw error;
      breaks += 1;
      if (!isEndless && breaks === breaksMax) throw new Refusal('The server breaks off the answer', null);
    }
    await sleep(pauseMs.first * Math.random());
  }
}

async function* heard(answer: Response, silent: AbortController, onText: () => void): AsyncGenerator<string> {
  const timer = setTimeout(() => silent.abort(), silenceMs);
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

/** Whether it is the connection that ended, and not this program that failed. */
function isBroken(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'AbortError' || (name === 'TypeError' && message === 'terminated');
}
