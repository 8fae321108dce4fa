import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy to Redis that drops pub/sub messages only: connections stay open, so clients do not notice. */
export interface LossyRedisLink {
  readonly port: number;
  /** The number of dropped messages. */
  readonly lostCount: number;
  /** Drops messages that contain the text until it is called again. */
  lose(text: string | undefined): void;
  close(): Promise<void>;
}

/** The start of a message in RESP3, the protocol that ioredis requests. */
const messageHead = Buffer.from('>3\r\n$7\r\nmessage\r\n');
const lineEnd = Buffer.from('\r\n');

/** Listens on a free local port and forwards to the given Redis. */
export async function openLossyRedisLink(target: { host: string; port: number }): Promise<LossyRedisLink> {
  const sockets = new Set<Socket>();
  let loses: Buffer | undefined;
  let lostCount = 0;
  const isKept = (message: Buffer): boolean => {
    if (loses === undefined || !message.includes(loses)) return true;
    lostCount += 1;
    return false;
  };
  const server = createServer((near) => {
    const far = connect(target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from.setNoDelay(true));
      from.on('error', () => undefined); // the following close is handled instead
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    near.on('data', (bytes) => far.write(bytes));
    let rest: Buffer = Buffer.alloc(0);
    far.on('data', (bytes) => {
      const { kept, unfinished } = filterMessages(Buffer.concat([rest, bytes]), isKept);
      rest = unfinished;
      near.write(kept);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get lostCount() {
      return lostCount;
    },
    lose(text) {
      loses = text === undefined ? undefined : Buffer.from(text);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Removes messages from the replies of Redis; an incomplete message waits for its rest. */
function filterMessages(bytes: Buffer, isKept: (message: Buffer) => boolean): { kept: Buffer; unfinished: Buffer } {
  const kept: Buffer[] = [];
  let at = 0;
  for (;;) {
    const start = bytes.indexOf(messageHead, at);
    if (start < 0) {
      const end = startOfHead(bytes, at);
      return { kept: Buffer.concat([...kept, bytes.subarray(at, end)]), unfinished: bytes.subarray(end) };
    }
    kept.push(bytes.subarray(at, start));
    const end = endOfStrings(bytes, start + messageHead.length, 2);
    if (end === null) return { kept: Buffer.concat(kept), unfinished: bytes.subarray(start) };
    const message = bytes.subarray(start, end);
    if (isKept(message)) kept.push(message);
    at = end;
  }
}

/** The index of an incomplete message head; the length of the bytes if no head is incomplete. */
function startOfHead(bytes: Buffer, from: number): number {
  for (let at = Math.max(from, bytes.length - messageHead.length + 1); at < bytes.length; at += 1) {
    if (bytes.subarray(at).equals(messageHead.subarray(0, bytes.length - at))) return at;
  }
  return bytes.length;
}

/** The index after this number of strings (`$<length>`, then the bytes); null if they are incomplete. */
function endOfStrings(bytes: Buffer, from: number, count: number): number | null {
  let at = from;
  for (let string = 0; string < count; string += 1) {
    const lengthEnd = bytes.indexOf(lineEnd, at);
    if (lengthEnd < 0) return null;
    at = lengthEnd + 2 + Number(bytes.subarray(at + 1, lengthEnd).toString()) + 2;
    if (at > bytes.length) return null;
  }
  return at;
}
