import {
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { coalescedInterval } from '@tocsin/shared/async/coalesced-timer.ts';

/** The response to a request. */
export interface PostAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body of an error response; omitted for 200, where it has no information. */
  readonly text: string;
}

/** The used part of a session. */
export type PostSession = Pick<ClientHttp2Session, 'request' | 'close' | 'unref'>;

/** Requests to push providers, one per device, with as little overhead as Node's HTTP/2 allows. */
export interface Http2Posts {
  /** Posts the body over the session; rejects if the connection ends before the response is complete, or on timeout. */
  post(session: PostSession, headers: OutgoingHttpHeaders, body: string): Promise<PostAnswer>;
  /** Retires the session: running requests complete, and then it closes. Do not post over it any more. */
  leave(session: PostSession): void;
  /** Running requests keep their time limit. */
  close(): void;
}

/** The interval of timeout checks; a timer per request would cost more than its response. */
const checkMs = 1_000;

/**
 * Retires a session after a response timeout and calls `onSilent`: a dead connection is otherwise silent
 * for a quarter of an hour.
 */
export function http2Posts(answerTimeoutMs: number, onSilent: (session: PostSession) => void): Http2Posts {
  /** In start order. */
  const underWay = new Map<ClientHttp2Stream, { readonly session: PostSession; readonly beganAt: number }>();
  const left = new WeakSet<PostSession>();
  let isClosing = false;
  const stopChecking = coalescedInterval(
    Math.min(checkMs, answerTimeoutMs),
    () => {
      for (const [stream, { session, beganAt }] of underWay) {
        if (performance.now() - beganAt < answerTimeoutMs) return;
        if (!left.has(session)) {
          onSilent(session);
          leave(session);
        }
        stream.close(constants.NGHTTP2_CANCEL);
      }
      if (isClosing && underWay.size === 0) stopChecking();
    },
    { isBackground: true },
  );

  /** Closing it earlier would end requests that wait for the server's concurrency limit. */
  const closeIfIdle = (session: PostSession): void => {
    if (![...underWay.values()].some((other) => other.session === session)) session.close();
  };
  const leave = (session: PostSession): void => {
    left.add(session);
    // It is unused and must not keep the process alive.
    session.unref();
    closeIfIdle(session);
  };
  const end = (stream: ClientHttp2Stream, session: PostSession): void => {
    underWay.delete(stream);
    if (left.has(session)) closeIfIdle(session);
  };
  return {
    post(session, headers, body) {
      const stream = session.request(headers);
      underWay.set(stream, { session, beganAt: performance.now() });
      return answerTo(stream, body, () => end(stream, session));
    },
    leave,
    close() {
      isClosing = true;
    },
  };
}

function answerTo(stream: ClientHttp2Stream, body: string, onEnd: () => void): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const answer = (status: number, headers: IncomingHttpHeaders, text: string): void => {
      isAnswered = true;
      resolve({ status, headers, text });
    };
    stream.on('response', (headers) => {
      const status = headers[':status']!;
      if (status === 200) {
        answer(status, headers, '');
        return void stream.resume();
      }
      let text = '';
      stream
        .setEncoding('utf8')
        .on('data', (chunk: string) => void (text += chunk))
        .on('end', () => {
          // Node also ends a truncated body, and half an error response would look like a complete one.
          if (!stream.destroyed && stream.rstCode === constants.NGHTTP2_NO_ERROR) answer(status, headers, text);
        });
    });
    stream.on('error', reject);
    // Requests cut off by a closed connection or a timeout neither end nor fail on their own.
    stream.on('close', () => {
      onEnd();
      if (!isAnswered) reject(new Error('ended without a response'));
    });
    stream.end(body);
  });
}
