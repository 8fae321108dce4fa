import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy with which tests cause network faults. */
export interface TcpProxy {
  readonly port: number;
  /** The number of accepted connections since it was opened. */
  readonly acceptedCount: number;
  /** The number of open connections. */
  readonly connectionCount: number;
  /** Ends all connections; with `refuse`, also new ones until `restore`. */
  cut(options?: { refuse?: boolean }): void;
  /** Drops all data silently until `restore`; accepts new connections without a response. */
  hold(): void;
  /** Drops the data of open connections silently; forwards new connections. */
  forget(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Listens on a free local port and forwards to the server. */
export async function openTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let mode: 'forward' | 'refuse' | 'hold' = 'forward';
  let acceptedCount = 0;
  const server = createServer((client) => {
    acceptedCount += 1;
    if (mode === 'refuse') return client.destroy();
    const upstream = connect(target);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const end = () => {
      client.destroy();
      upstream.destroy();
      pairs.delete(pair);
    };
    forward(client, upstream, end);
    forward(upstream, client, end);
    if (mode === 'hold') for (const socket of pair) socket.pause();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  const forget = () => {
    for (const pair of pairs) for (const socket of pair) socket.pause();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get acceptedCount() {
      return acceptedCount;
    },
    get connectionCount() {
      return pairs.size;
    },
    cut: ({ refuse = false } = {}) => {
      mode = refuse ? 'refuse' : 'forward';
      cut();
    },
    hold: () => {
      mode = 'hold';
      forget();
    },
    forget,
    restore: () => {
      mode = 'forward';
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

function forward(from: Socket, to: Socket, end: () => void): void {
  from.setNoDelay(true);
  from.on('data', (bytes) => to.write(bytes));
  from.on('error', end);
  from.on('close', end);
}
