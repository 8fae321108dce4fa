import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP link to a running server, whose failure is an outage only for clients of the link. */
export interface CuttableLink {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Ends all connections and refuses new ones. */
  cut(): void;
  /** Ends all connections like a server that shuts down, and accepts new ones. */
  endConnections(): void;
  /** Drops all data silently. */
  freeze(): void;
  restore(): void;
  close(): Promise<void>;
}

export async function cuttableLink(target: { host: string; port: number }): Promise<CuttableLink> {
  const sockets = new Set<Socket>();
  let state: 'up' | 'cut' | 'frozen' = 'up';
  const server = createServer((near) => {
    if (state === 'cut') return void near.destroy();
    const far = connect(target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => state === 'up' && to.write(bytes));
      from.on('error', () => undefined); // expected for a cut link
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = () => sockets.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      state = 'cut';
      end();
    },
    endConnections: () => sockets.forEach((socket) => socket.end()),
    freeze: () => (state = 'frozen'),
    restore: () => {
      // Bytes were lost while the link was frozen, so these connections are unusable.
      end();
      state = 'up';
    },
    close: async () => {
      end();
      server.close();
      await once(server, 'close');
    },
  };
}
