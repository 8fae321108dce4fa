import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';

export interface FcmAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The way to FCM. */
export interface FcmSessions {
  /** Posts the body; rejects when the connection ends before the answer has, or takes longer than its time. */
  post(path: string, headers: OutgoingHttpHeaders, body: string): Promise<FcmAnswer>;
  /** Requests that are under way have two seconds to end; none begins after it. */
  close(): void;
}

/** Harm prevented: Node ends a session whose streams hold more, 10 MB by default. */
const sessionMemoryMb = 64;

const closeMsMax = 2_000;

/** How often requests are looked for whose time is over: a timer for each would cost more than its answer. */
const checkMs = 1_000;

/** One connection for all pushes, and a new one once it has ended or its server wants no more of it. */
export function fcmSessions(url: string, answerTimeoutMs: number): FcmSessions {
  const { origin } = new URL(url);
  /** In the order they began. */
  const underWay = new Map<ClientHttp2Stream, number>();
  let current: ClientHttp2Session | undefined;

  const open = (): ClientHttp2Session => {
    const session = connect(origin, { maxSessionMemory: sessionMemoryMb });
    const leave = (): void => {
      if (current === session) current = undefined;
    };
    // Every request under way is told by itself.
    session.on('error', leave).on('close', leave).on('goaway', () => {
      leave();
      session.close();
    });
    return session;
  };

  const checking = setInterval(() => {
    for (const [stream, beganAt] of underWay) {
      if (performance.now() - beganAt < answerTimeoutMs) return;
      stream.close(constants.NGHTTP2_CANCEL);
    }
  }, checkMs).unref();

  return {
    async post(path, headers, body) {
      current ??= open();
      const stream = current.request({ ':method': 'POST', ':path': path, ...headers });
      underWay.set(stream, performance.now());
      try {
        return await answerTo(stream, body);
      } finally {
        underWay.delete(stream);
      }
    },
    close() {
      clearInterval(checking);
      const session = current;
      session?.close();
      setTimeout(() => session?.destroy(), closeMsMax).unref();
    },
  };
}

function answerTo(stream: ClientHttp2Stream, body: string): Promise<FcmAnswer> {
  return new Promise((resolve, reject) => {
    let answer: Omit<FcmAnswer, 'text'> | undefined;
    let text = '';
    stream.setEncoding('utf8');
    stream.on('response', (headers) => {
      answer = { status: headers[':status']!, headers };
    });
    stream.on('data', (chunk: string) => {
      text += chunk;
    });
    stream.on('end', () => {
      if (answer !== undefined) resolve({ ...answer, text });
    });
    stream.on('error', reject);
    // What a connection that ends has cut off neither ends nor fails by itself.
    stream.on('close', () => {
      if (!stream.readableEnded) reject(new Error('the connection has ended'));
    });
    stream.end(body);
  });
}
