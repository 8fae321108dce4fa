import { connect, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2';

/** The way to FCM. */
export interface FcmSessions {
  /** With its port. */
  readonly host: string;
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream;
  /** Requests that are under way have two seconds to end; none begins after it. */
  close(): void;
}

/** Harm prevented: Node ends a session whose streams hold more, 10 MB by default. */
const sessionMemoryMb = 64;

const closeMsMax = 2_000;

/** One connection for all pushes, and a new one once it has ended or its server wants no more of it. */
export function fcmSessions(url: string): FcmSessions {
  const { host, protocol, origin } = new URL(url);
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

  return {
    host,
    request(headers) {
      current ??= open();
      // The library writes the scheme as `https:`, which servers refuse (RFC 9113 §8.3.1).
      return current.request({ ...headers, ':scheme': protocol.replace(':', '') });
    },
    close() {
      const session = current;
      session?.close();
      setTimeout(() => session?.destroy(), closeMsMax).unref();
    },
  };
}
