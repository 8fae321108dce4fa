import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to Redis that loses messages of pub/sub, and nothing else: no connection ends, so nobody is told. */
export interface LossyRedisLink {
  readonly port: number;
  /** How many messages it has lost. */
  readonly lostCount: number;
  /** Loses the messages that contain the text, until it is called again. */
  lose(text: string | undefined): void;
  close(): Promise<void>;
}

/** How a message begins in RESP3, the protocol that ioredis asks for. */
const messageHead = Buffer.from('>3\r\n$7\r\nmessage\r\n');
const lineEnd = Buffer.from('\r\n');

/** Listens on a free port of this machine and forwards to the Redis there. */
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
      from.on('error', () => undefined); // the close that follows is what counts
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

/** Takes messages out of what Redis sends; a message that has not arrived whole waits for the rest. */
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

/** Where a message's head begins that has not arrived whole; the end of the bytes when there is none. */
function startOfHead(bytes: Buffer, from: number): number {
  for (let at = Math.max(from, bytes.length - messageHead.length + 1); at < bytes.length; at += 1) {
    if (bytes.subarray(at).equals(messageHead.subarray(0, bytes.length - at))) return at;
  }
  return bytes.length;
}

/** Behind so many strings (`$<length>`, then the bytes); null when they have not arrived whole. */
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
