import { once } from 'node:events';
import net from 'node:net';

/**
 * A TCP proxy for a broker on 127.0.0.1 that understands enough of Kafka's protocol to inject faults. It replaces the
 * broker's addresses in responses with its own, so that clients keep using it.
 */
export interface KafkaProxy {
  /** `host:port` for clients; does not change with `refuse` and `accept`. */
  readonly address: string;
  /** Simulates a broker that is down: closes all connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Listens again after `refuse`. */
  accept(): Promise<void>;
  /** Simulates a silent broker: connections open, but no responses arrive until `release`. */
  hold(): void;
  release(): void;
  /**
   * Decides about each response, after the broker has processed the request: `cut` closes the client's connection,
   * `swallow` drops the response, and `empty` replaces it after a moment with an empty fetch response.
   */
  onResponse: (apiKey: number, connection: number) => ResponseFault;
  /** The number of client connections so far. */
  readonly connections: number;
  /** Called for each request. If it returns a body, the proxy responds with it and does not forward the request. */
  onRequest: (apiKey: number) => Buffer | undefined;
  close(): Promise<void>;
}

export type ResponseFault = 'pass' | 'cut' | 'swallow' | 'empty';

/** The body of an empty response to Fetch v7 to v11. */
const emptyFetchBody = Buffer.alloc(14);
/** How long the broker waits for new records. */
const emptyFetchDelayMs = 250;

/** API keys of Kafka. */
export const apiKeys = { produce: 0, fetch: 1, joinGroup: 11, heartbeat: 12 } as const;

/** The Heartbeat v3 response of a former coordinator (`NOT_COORDINATOR`). */
export const heartbeatElsewhere = Buffer.from('00000000' + '0010', 'hex');
/** The JoinGroup v5 response of a broker that is loading a group (`COORDINATOR_LOAD_IN_PROGRESS`). */
export const joinWhileLoading = Buffer.from(
  '00000000' + '000e' + 'ffffffff' + '0000' + '0000' + '0000' + '00000000',
  'hex',
);

export async function startKafkaProxy(broker: string): Promise<KafkaProxy> {
  const brokerPort = Number(broker.split(':')[1]);
  const links = new Set<Link>();
  const server = net.createServer((client) => {
    const link = new Link(client, { brokerPort, proxy, number: connectionCount++ });
    links.add(link);
    client.once('close', () => links.delete(link));
    if (isHeld) link.hold();
  });
  let isHeld = false;
  let connectionCount = 0;
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as net.AddressInfo).port;
  };
  const refuse = async (): Promise<void> => {
    const closed = server.listening ? once(server, 'close') : undefined;
    server.close();
    for (const link of links) link.cut();
    await closed;
  };
  const proxy = {
    port: 0,
    onResponse: (_apiKey: number, _connection: number): ResponseFault => 'pass',
    get connections() {
      return connectionCount;
    },
    onRequest: (_apiKey: number): Buffer | undefined => undefined,
    get address() {
      return `127.0.0.1:${this.port}`;
    },
    refuse,
    accept: async () => void (await listen(proxy.port)),
    hold: () => {
      isHeld = true;
      for (const link of links) link.hold();
    },
    release: () => {
      isHeld = false;
      for (const link of links) link.release();
    },
    close: refuse,
  };
  proxy.port = await listen(0);
  return proxy;
}

interface LinkOptions {
  readonly brokerPort: number;
  readonly proxy: Pick<KafkaProxy, 'onResponse' | 'onRequest'> & { readonly port: number };
  readonly number: number;
}

/** One client connection and its connection to the broker. */
class Link {
  readonly #client: net.Socket;
  readonly #broker: net.Socket;
  /** In-flight requests: the API key by correlation ID. */
  readonly #requests = new Map<number, number>();

  constructor(client: net.Socket, { brokerPort, proxy, number }: LinkOptions) {
    this.#client = client;
    this.#broker = net.connect(brokerPort, '127.0.0.1');
    forEachFrame(client, (frame) => {
      const [apiKey, correlationId] = [frame.readInt16BE(4), frame.readInt32BE(8)];
      const answer = proxy.onRequest(apiKey);
      if (answer !== undefined) return this.#answer(correlationId, answer);
      this.#requests.set(correlationId, apiKey);
      this.#broker.write(frame);
    });
    forEachFrame(this.#broker, (frame) => {
      const correlationId = frame.readInt32BE(4);
      const apiKey = this.#requests.get(correlationId) ?? -1;
      this.#requests.delete(correlationId);
      const fault = proxy.onResponse(apiKey, number);
      if (fault === 'cut') return this.cut();
      if (fault === 'swallow') return;
      if (fault === 'empty')
        return void setTimeout(() => this.#answer(correlationId, emptyFetchBody), emptyFetchDelayMs);
      replacePort(frame, brokerPort, proxy.port);
      this.#client.write(frame);
    });
    for (const socket of [this.#client, this.#broker])
      socket.on('error', () => this.cut()).on('close', () => this.cut());
  }

  #answer(correlationId: number, body: Buffer): void {
    const head = Buffer.alloc(8);
    head.writeInt32BE(4 + body.length, 0);
    head.writeInt32BE(correlationId, 4);
    this.#client.write(Buffer.concat([head, body]));
  }

  hold(): void {
    this.#client.pause();
    this.#broker.pause();
  }

  release(): void {
    this.#client.resume();
    this.#broker.resume();
  }

  cut(): void {
    this.#client.destroy();
    this.#broker.destroy();
  }
}

/** Calls back with each complete protocol message: a four-byte length and the content. */
function forEachFrame(socket: net.Socket, take: (frame: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0);
      take(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  });
}

/** Replaces the port of each address (a length-prefixed host and a four-byte port); the host is the same. */
function replacePort(frame: Buffer, from: number, to: number): void {
  const host = '127.0.0.1';
  for (let at = frame.indexOf(host); at >= 0; at = frame.indexOf(host, at + host.length)) {
    const port = at + host.length;
    if (port + 4 <= frame.length && frame.readInt32BE(port) === from) frame.writeInt32BE(to, port);
  }
}
