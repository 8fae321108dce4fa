import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Acked, Line } from './ledger.ts';
import { request } from './request.ts';

export interface KeepPublishingOptions {
  readonly urls: readonly string[];
  readonly topics: readonly string[];
  readonly publishers: number;
  /** Sends each line under an Idempotency-Key, again and again until it is acknowledged; else each line once. */
  readonly isKeyed?: boolean;
  readonly token?: string;
  /** Headers of one request, made for each. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Between an answer and the next send of a publisher. Default 5. */
  readonly pauseMs?: number;
  /** Length of a line's text in code points. Default 60. */
  readonly textLength?: number;
  /** The code point that fills a line's text up to its length. Default a dot. */
  readonly filling?: string;
}

/** One send and what came of it. */
export interface Attempt {
  readonly line: Line;
  /** Null: no answer. */
  readonly status: number | null;
  /** The code of the error that came instead of an answer, such as `ECONNREFUSED`. */
  readonly fault: string | null;
  /** When it was sent, by `performance.now()`. */
  readonly sentAt: number;
  readonly ms: number;
}

/** Publishers that go on whatever happens, until they are stopped. */
export interface Publishing {
  readonly attempts: readonly Attempt[];
  readonly acked: readonly Acked[];
  /** When each message was acknowledged, by its id and `performance.now()`. */
  readonly ackedAt: ReadonlyMap<string, number>;
  /** Every line that was ever sent. */
  readonly lines: readonly Line[];
  /** Resolves when what is under way has its answer; keyed publishers end with an acknowledged line. */
  stop(): Promise<void>;
  /** Ends them at once, whatever is under way: for a test that has failed. */
  cutOff(): Promise<void>;
}

/** A keyed line that is not acknowledged after this long is a failure of the test. */
const lineMsMax = 60_000;
let runs = 0;

/** Starts publishers, each of which sends its own lines one after another, in turn to the topics and to the nodes. */
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
  running.catch(() => undefined); // who stops them is told
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

/** An answer, or the error that came instead. */
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
