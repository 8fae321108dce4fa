import { sleep } from './sleep.ts';
import { TocsinError } from './tocsin-error.ts';

export interface ClientOptions {
  /** The address of the server, such as `https://tocsin.example.org`. */
  readonly url: string;
  /** An access token, an API key or a topic token. Absent: anonymous requests. */
  readonly token?: string;
  /** How long to retry a request while the server is unavailable, in milliseconds. 30,000 by default. */
  readonly retryForMs?: number;
  /** Called before the first retry of a request. */
  readonly onRetry?: (error: TocsinError) => void;
  /** A replacement for the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Statuses after which a retry may succeed. */
const retryable: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

const pauseMs = { first: 500, max: 30_000 } as const;
const retryForMsDefault = 30_000;

/** Sends the requests of a client. */
export class Connection {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') };
  }

  /** Sends a request once and returns the 2xx response. Throws TocsinError, or the reason of an abort. */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const { url, token, fetch: send = fetch } = this.#options;
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
    const response = await send(`${url}${path}`, { ...init, headers }).catch((error: unknown) => {
      init.signal?.throwIfAborted();
      throw new TocsinError(`${url} does not respond: ${reasonOf(error)}`, { status: null, retryAfterMs: 0 });
    });
    if (response.ok) return response;
    const { status, statusText } = response;
    const { detail } = (await response.json().catch(() => ({}))) as { detail?: unknown };
    throw new TocsinError(typeof detail === 'string' ? detail : `${status} ${statusText}`, {
      status,
      retryAfterMs: retryable.has(status) ? retryAfterMs(response) : null,
    });
  }

  /** Sends a request with a JSON body and returns the body of the response. Retries as `retry` does. */
  async json<T>(method: string, path: string, options: JsonOptions = {}): Promise<T> {
    const { body, headers, signal, forMs } = options;
    const init: RequestInit = {
      method,
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    };
    return this.retry(
      async () => {
        const response = await this.request(path, init);
        return (response.status === 204 ? undefined : await response.json()) as T;
      },
      { signal, ...(forMs !== undefined && { forMs }) },
    );
  }

  /**
   * Repeats a request that failed temporarily: when `Retry-After` says, otherwise with exponential backoff and jitter.
   * Throws the last error when `forMs` is over, and any other error immediately.
   */
  async retry<T>(
    attempt: () => Promise<T>,
    { signal, forMs }: { signal?: AbortSignal | undefined; forMs?: number } = {},
  ): Promise<T> {
    const until = performance.now() + (forMs ?? this.#options.retryForMs ?? retryForMsDefault);
    for (let pause: number = pauseMs.first; ; pause = Math.min(2 * pause, pauseMs.max)) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof TocsinError) || error.retryAfterMs === null) throw error;
        const waitMs = Math.max(error.retryAfterMs, pause * (0.5 + Math.random() / 2));
        if (performance.now() + waitMs > until) throw error;
        if (pause === pauseMs.first) this.#options.onRetry?.(error);
        await sleep(waitMs, signal);
      }
    }
  }
}

export interface JsonOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** How long to retry, instead of the client's time. */
  readonly forMs?: number;
}

function retryAfterMs({ headers }: Response): number {
  const seconds = Number(headers.get('Retry-After') ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
}

/** Node describes the failure of a connection in `cause`. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}
