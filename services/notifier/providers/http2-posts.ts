import {
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';

/** What a server said to a request. */
export interface PostAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body of a refusal; that of a 200 says nothing more, and is left out. */
  readonly text: string;
}

/** What is used of a connection. */
export type PostSession = Pick<ClientHttp2Session, 'request' | 'close' | 'unref'>;

/** Requests to push providers, each about one device: what all have in common is done here as cheaply as Node's HTTP/2 lets it be. */
export interface Http2Posts {
  /** Posts the body over the session; rejects when the connection ends before the whole answer has come, or that takes longer than its time. */
  post(session: PostSession, headers: OutgoingHttpHeaders, body: string): Promise<PostAnswer>;
  /** Nothing more is to be posted over the session: what is under way on it ends, and with the last it is closed. */
  leave(session: PostSession): void;
  /** What is under way has its time. */
  close(): void;
}

/** How often requests are looked for whose time is over: a timer for each would cost more than its answer. */
const checkMs = 1_000;

/**
 * A session on which an answer took longer than its time is left, and `onSilent` told: a connection that the network has forgotten says
 * nothing for a quarter of an hour.
 */
export function http2Posts(answerTimeoutMs: number, onSilent: (session: PostSession) => void): Http2Posts {
  /** In the order they began. */
  const underWay = new Map<ClientHttp2Stream, { readonly session: PostSession; readonly beganAt: number }>();
  const left = new WeakSet<PostSession>();
  let isClosing = false;
  const checking = setInterval(
    () => {
      for (const [stream, { session, beganAt }] of underWay) {
        if (performance.now() - beganAt < answerTimeoutMs) return;
        if (!left.has(session)) {
          onSilent(session);
          leave(session);
        }
        stream.close(constants.NGHTTP2_CANCEL);
      }
      if (isClosing && underWay.size === 0) clearInterval(checking);
    },
    Math.min(checkMs, answerTimeoutMs),
  ).unref();

  /** Closed before, it would end the requests that wait on it for the server's limit of requests at once. */
  const closeIfIdle = (session: PostSession): void => {
    if (![...underWay.values()].some((other) => other.session === session)) session.close();
  };
  const leave = (session: PostSession): void => {
    left.add(session);
    // Nobody holds it any more; it is not to hold the process.
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
          // Node ends a body that was cut off, too, and half a refusal would pass for one that leaves things out.
          if (!stream.destroyed && stream.rstCode === constants.NGHTTP2_NO_ERROR) answer(status, headers, text);
        });
    });
    stream.on('error', reject);
    // What a connection that ends has cut off, or whose time is over, neither ends nor fails by itself.
    stream.on('close', () => {
      onEnd();
      if (!isAnswered) reject(new Error('ended without an answer'));
    });
    stream.end(body);
  });
}
