import { request, type Agent, type ClientRequest, type IncomingHttpHeaders } from 'node:http';

/** The server under attack. */
export interface Target {
  readonly url: URL;
  /** Fewer connections and requests, for continuous integration. */
  readonly isQuick: boolean;
}

/** The result of an attack: the figures for the report, and why the server failed. */
export interface Outcome {
  readonly figures: Readonly<Record<string, number | string | null>>;
  /** Empty if the server held. */
  readonly faults: readonly string[];
}

export interface Attack {
  readonly name: string;
  readonly run: (target: Target) => Promise<Outcome>;
}

export interface SentRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly agent?: Agent;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly ms: number;
}

const timeoutMs = 30_000;

/**
 * Sends a request without normalizing its path. Status 0: the server closed the connection or sent no response in 30 s.
 */
export function send(target: Pick<Target, 'url'>, { method = 'GET', path, headers = {}, body, agent }: SentRequest) {
  const { hostname, port } = target.url;
  const began = performance.now();
  return new Promise<Reply>((resolve) => {
    const end = (status: number, text: string, received: IncomingHttpHeaders = {}) => {
      clearTimeout(timer);
      resolve({ status, text, headers: received, ms: performance.now() - began });
    };
    let sent: ClientRequest | undefined;
    const timer = setTimeout(() => {
      end(0, 'no complete response');
      sent?.destroy();
    }, timeoutMs);
    try {
      // Without a length, Node sends the body of a DELETE or OPTIONS request as the beginning of the next request.
      const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
      sent = request({ hostname, port, method, path, headers: { ...length, ...headers }, agent: agent ?? false });
      sent.on('response', (response) => {
        // A stream has no end: its status is enough.
        if (/event-stream|ndjson/.test(response.headers['content-type'] ?? '')) {
          end(response.statusCode!, '', response.headers);
          sent!.destroy();
          return;
        }
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => (text += text.length < 1_000_000 ? piece : ''));
        response.on('end', () => end(response.statusCode!, text, response.headers));
        response.on('error', () => end(0, text));
      });
      sent.on('upgrade', (response, socket) => {
        end(response.statusCode!, '', response.headers);
        socket.destroy();
      });
      sent.on('error', (error) => end(0, error.message));
      sent.end(body);
    } catch (error) {
      end(0, (error as Error).message);
    }
  });
}

/** An operation of the OpenAPI document. */
export interface Operation {
  /** Such as `GET /health/live`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

/** Returns all operations of the server's OpenAPI document. */
export async function readOperations(target: Target): Promise<Operation[]> {
  const { paths } = JSON.parse((await send(target, { path: '/openapi.json' })).text) as {
    paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((one) => ({ name: `${one.toUpperCase()} ${path}`, method: one.toUpperCase(), path })),
  );
}

/** The longest permitted response time of `/health/live`. The quick form shares the machine with other tests. */
export const healthMsMax = ({ isQuick }: Pick<Target, 'isQuick'>): number => (isQuick ? 2_000 : 1_000);

/** Runs the work and returns the longest response time of `/health/live` meanwhile, measured ten times per second. */
export async function whileHealthy<T>(
  target: Target,
  work: () => Promise<T>,
): Promise<{ result: T; healthMs: number }> {
  let healthMs = 0;
  let isDone = false;
  const watch = async () => {
    while (!isDone) {
      const { status, ms } = await send(target, { path: '/health/live' });
      healthMs = Math.max(healthMs, status === 200 ? ms : timeoutMs);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const watching = watch();
  const result = await work().finally(() => {
    isDone = true;
  });
  await watching;
  return { result, healthMs: Math.round(healthMs) };
}
