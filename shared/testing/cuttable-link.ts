import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP link to a server that stays up: what happens to the link is an outage for those who use it, and for no one else. */
export interface CuttableLink {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Ends all connections and refuses new ones. */
  cut(): void;
  /** Lets nothing through any more, and tells no one. */
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
      from.on('error', () => undefined); // a cut link is what this is for
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
    freeze: () => (state = 'frozen'),
    restore: () => {
      // Bytes were lost while frozen: the connections of that time are of no use.
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
