import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Acked, Line } from './ledger.ts';
import { request } from './request.ts';

export interface KeepPublishingOptions {
  readonly urls: readonly string[];
  readonly topics: readonly string[];
  readonly publishers: number;
  /** Whether to retry each line with an Idempotency-Key until it is acknowledged; otherwise each line is sent once. */
  readonly isKeyed?: boolean;
  readonly token?: string;
  /** Creates the headers of one request. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Pause of a publisher between a response and the next send. Default 5. */
  readonly pauseMs?: number;
  /** Length of a line's text in code points. Default 60. */
  readonly textLength?: number;
  /** The code point that pads a line's text. Default a dot. */
  readonly filling?: string;
}

/** One send and its outcome. */
export interface Attempt {
  readonly line: Line;
  /** Null if there was no response. */
  readonly status: number | null;
  /** The code of the error without response, such as `ECONNREFUSED`. */
  readonly fault: string | null;
  /** Time of the send, from `performance.now()`. */
  readonly sentAt: number;
  readonly ms: number;
}

/** Publishers that continue after any error until they are stopped. */
export interface Publishing {
  readonly attempts: readonly Attempt[];
  readonly acked: readonly Acked[];
  /** Time of each acknowledgement from `performance.now()`, by message ID. */
  readonly ackedAt: ReadonlyMap<string, number>;
  /** All lines that were sent. */
  readonly lines: readonly Line[];
  /** Resolves after the sends in progress; keyed publishers end with an acknowledged line. */
  stop(): Promise<void>;
  /** Ends the publishers immediately, for a failed test. */
  cutOff(): Promise<void>;
}

/** A keyed line that is not acknowledged within this time fails the test. */
const lineMsMax = 60_000;
let runs = 0;

/** Starts publishers, each of which sends its lines sequentially, alternating between topics and nodes. */
export function keepPublishing(options: KeepPublishingOptions): Publishing {
  const run = `${process.pid}-${runs++}`;
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const attempts: Attempt[] = [];
  const acked: Acked[] = [];
  const ackedAt = new Map<string, number>();
  const lines: Line[] = [];
  let isStopped = false;
  let isCutOff = false;

  const publish = async (index: number): Promise<void> => {
    for (let n = 0; !isStopped; n += 1) {
      const publisher = `${run}-${index}`;
      const topic = options.topics[(index + n) % options.topics.length]!;
      const line = { publisher, n, topic, text: textOf(`${publisher} line ${n} `, options), priority: 3 };
      lines.push(line);
      const begunAt = performance.now();
      for (let sends = 1; ; sends += 1) {
        const url = options.urls[(index + n + sends) % options.urls.length]!;
        const sentAt = performance.now();
        const answer = await post(`${url}/${topic}`, line, { agent, ...options });
        attempts.push({ line, status: answer.status, fault: answer.fault, sentAt, ms: performance.now() - sentAt });
        if (answer.status === 200) {
          acked.push({ line, id: answer.body.id, offset: answer.body.offset, attempts: sends });
          ackedAt.set(answer.body.id, performance.now());
        }
        if (answer.status === 200 || options.isKeyed !== true || isCutOff) break;
        if (performance.now() - begunAt > lineMsMax)
          throw new Error(`line ${n} of ${publisher} was never acknowledged`);
        await pause(50);
      }
      await pause(options.pauseMs ?? 5);
    }
  };
  const running = Promise.all(Array.from({ length: options.publishers }, (_, index) => publish(index)));
  running.catch(() => undefined); // `stop` rejects with the error
  return {
    attempts,
    acked,
    ackedAt,
    lines,
    async stop() {
      isStopped = true;
      await running;
      agent.destroy();
    },
    async cutOff() {
      isStopped = isCutOff = true;
      agent.destroy();
      await Promise.allSettled([running]);
    },
  };
}

/** A response or the error instead. */
type Outcome =
  | { readonly status: number; readonly fault: null; readonly body: { id: string; offset: number } }
  | { readonly status: null; readonly fault: string };

function post(
  url: string,
  line: Line,
  options: Pick<KeepPublishingOptions, 'isKeyed' | 'token' | 'headers'> & { agent: Agent },
): Promise<Outcome> {
  const headers = {
    ...options.headers?.(),
    ...(options.isKeyed === true ? { 'Idempotency-Key': `${line.publisher}-${line.n}` } : {}),
    ...(options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` }),
  };
  return request(url, { method: 'POST', agent: options.agent, headers, body: line.text, timeoutMs: 30_000 }).then(
    ({ status, text }): Outcome => ({ status, fault: null, body: parse(text) }),
    (error: NodeJS.ErrnoException): Outcome => ({ status: null, fault: error.code ?? error.message }),
  );
}

function textOf(start: string, { textLength = 60, filling = '.' }: KeepPublishingOptions): string {
  return start + filling.repeat(Math.max(0, textLength - start.length));
}

function parse(text: string): { id: string; offset: number } {
  return (text.startsWith('{') ? JSON.parse(text) : {}) as { id: string; offset: number };
}
