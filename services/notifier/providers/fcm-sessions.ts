import { connect, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import { http2Posts, type PostAnswer, type PostSession } from './http2-posts.ts';

/** Connections to FCM. */
export interface FcmSessions {
  /** Posts the body; rejects if the connection ends before the response is complete, or on timeout. */
  post(path: string, headers: OutgoingHttpHeaders, body: string): Promise<PostAnswer>;
  /** Gives running requests two seconds to end; rejects new ones. */
  close(): void;
}

/** Node ends a session whose streams use more than this (default 10 MB). */
const sessionMemoryMb = 64;

const closeMsMax = 2_000;

/**
 * Uses one connection for all pushes, and opens a new one after it ended, the server sent GOAWAY, or a response timed
 * out.
 */
export function fcmSessions(url: string, answerTimeoutMs: number): FcmSessions {
  const { origin } = new URL(url);
  let current: ClientHttp2Session | undefined;
  const leave = (session: PostSession): void => {
    if (current === session) current = undefined;
  };
  const posts = http2Posts(answerTimeoutMs, leave);

  const open = (): ClientHttp2Session => {
    const session = connect(origin, { maxSessionMemory: sessionMemoryMb });
    const leaveIt = (): void => leave(session);
    // Each running request gets its own error.
    session
      .on('error', leaveIt)
      .on('close', leaveIt)
      .on('goaway', () => {
        leave(session);
        session.close();
      });
    return session;
  };

  return {
    post(path, headers, body) {
      current ??= open();
      return posts.post(current, { ':method': 'POST', ':path': path, ...headers }, body);
    },
    close() {
      posts.close();
      const session = current;
      session?.close();
      setTimeout(() => session?.destroy(), closeMsMax).unref();
    },
  };
}
