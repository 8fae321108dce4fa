import { request as httpRequest, type Agent, type OutgoingHttpHeaders } from 'node:http';
import { text as textOf } from 'node:stream/consumers';

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
  /** Whose connections it uses; Node's own by default. */
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
  /** An answer that has not come after this long is none. */
  readonly timeoutMs: number;
}

/**
 * A request by `node:http`, since readers and publishers by the hundred must not be what is slow: `fetch` takes twice the CPU
 * time. Rejects when there is no answer.
 */
export function request(
  url: string,
  { body, timeoutMs, ...options }: RequestOptions,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, options, (answer) => {
      textOf(answer).then((text) => resolve({ status: answer.statusCode!, text }), reject);
    });
    const timer = setTimeout(() => sent.destroy(new Error(`no answer after ${timeoutMs} ms`)), timeoutMs);
    sent
      .on('error', reject)
      .on('close', () => clearTimeout(timer))
      .end(body);
  });
}
