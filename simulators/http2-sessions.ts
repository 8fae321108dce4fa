import type { Http2SecureServer, Http2Server, ServerHttp2Session } from 'node:http2';

/** The sessions of an HTTP/2 server. */
export interface Http2Sessions {
  /** The number of sessions since the start. */
  readonly opened: number;
  /** Sends GOAWAY to all clients. */
  goAway(): void;
  /** Closes all sessions immediately. */
  destroy(): void;
}

export function http2Sessions(server: Http2Server | Http2SecureServer): Http2Sessions {
  const sessions = new Set<ServerHttp2Session>();
  let opened = 0;
  server.on('session', (session: ServerHttp2Session) => {
    opened += 1;
    sessions.add(session.on('close', () => sessions.delete(session)).on('error', () => undefined));
  });
  return {
    get opened() {
      return opened;
    },
    goAway() {
      for (const session of sessions) if (!session.destroyed) session.goaway();
    },
    destroy() {
      for (const session of sessions) session.destroy();
    },
  };
}
