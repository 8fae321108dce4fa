import { connect, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import { http2Posts, type PostAnswer, type PostSession } from './http2-posts.ts';

/** The way to FCM. */
export interface FcmSessions {
  /** Posts the body; rejects when the connection ends before the answer has come, or takes longer than its time. */
  post(path: string, headers: OutgoingHttpHeaders, body: string): Promise<PostAnswer>;
  /** Requests that are under way have two seconds to end; none begins after it. */
  close(): void;
}

/** Harm prevented: Node ends a session whose streams hold more, 10 MB by default. */
const sessionMemoryMb = 64;

const closeMsMax = 2_000;

/** One connection for all pushes, and a new one once it has ended, its server wants no more of it, or an answer has not come over it. */
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
    // Every request under way is told by itself.
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
