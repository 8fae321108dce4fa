import { connect, type Socket } from 'node:net';

export type Transport = 'sse' | 'ws';

/** Shown the bytes that hold a message, where its text begins, and may keep neither. */
export type OnText = (bytes: Buffer, textAt: number) => void;

const headEnd = Buffer.from('\r\n\r\n');
const eventEnd = Buffer.from('\n\n');
const textField = Buffer.from('"message":"');
/** One for all connections: what is read is looked at before the next read. */
const readBuffer = Buffer.allocUnsafe(256 * 1024);

/**
 * A subscriber for load, over SSE or a WebSocket: finds the text of each message that has arrived whole, and parses
 * nothing else. It answers no pings, so it is not for streams of minutes. It takes an event to be in one chunk of the
 * answer, as every server here writes it; one that is not would count as lost.
 */
export class EventConnection {
  readonly #onText: OnText;
  readonly #transport: Transport;
  #socket!: Socket;
  #onOpen: (() => void) | undefined;
  #onError: (error: Error) => void;
  #isOpen = false;
  #tail: Buffer | undefined;

  private constructor(transport: Transport, onText: OnText, onError: (error: Error) => void) {
    this.#transport = transport;
    this.#onText = onText;
    this.#onError = onError;
  }

  /**
   * Resolves when the server has answered with the stream; rejects when it refuses. A stream that ends before `close` is
   * thrown where nobody catches it, so that the generator fails.
   */
  static open(to: { port: number; path: string; transport: Transport }, onText: OnText): Promise<EventConnection> {
    return new Promise((resolve, reject) => {
      const connection = new EventConnection(to.transport, onText, reject);
      connection.#onOpen = () => {
        connection.#onError = (error) => {
          throw error;
        };
        resolve(connection);
      };
      const callback = (length: number) => {
        connection.#read(readBuffer.subarray(0, length));
        return true;
      };
      const socket = connect({
        port: to.port,
        host: '127.0.0.1',
        noDelay: true,
        onread: { buffer: readBuffer, callback },
      });
      socket.on('connect', () => socket.write(requestFor(to.transport, to.path)));
      socket.on('error', (error) => connection.#onError(error));
      socket.on('close', () => connection.#onError(new Error('the server closed a stream')));
      connection.#socket = socket;
    });
  }

  close(): void {
    this.#onError = () => undefined;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const bytes = this.#tail === undefined ? chunk : Buffer.concat([this.#tail, chunk]);
    let at = this.#isOpen ? 0 : this.#readHead(bytes);
    if (this.#isOpen) at = this.#transport === 'sse' ? this.#readEvents(bytes, at) : this.#readFrames(bytes, at);
    this.#tail = at === bytes.length ? undefined : Buffer.from(bytes.subarray(at));
  }

  #readHead(bytes: Buffer): number {
    const end = bytes.indexOf(headEnd);
    if (end < 0) return 0;
    const status = bytes.toString('latin1', 9, 12);
    if (status !== (this.#transport === 'sse' ? '200' : '101')) {
      const refuse = this.#onError;
      this.close();
      refuse(new Error(`a stream was refused: ${bytes.toString('latin1', 0, end)}`));
      return bytes.length;
    }
    this.#isOpen = true;
    this.#onOpen?.();
    return end + headEnd.length;
  }

  /** Where the first event begins that has not ended. */
  #readEvents(bytes: Buffer, from: number): number {
    let at = from;
    for (;;) {
      const end = bytes.indexOf(eventEnd, at);
      if (end < 0) return at;
      this.#readText(bytes, at, end);
      at = end + eventEnd.length;
    }
  }

  /** Where the first frame begins that has not ended. Frames from a server are not masked (RFC 6455 §5.1). */
  #readFrames(bytes: Buffer, from: number): number {
    let at = from;
    while (bytes.length >= at + 4) {
      const short = bytes[at + 1]! & 0x7f;
      if (short === 127) throw new Error('a frame of more than 64 KiB');
      const payloadAt = at + (short === 126 ? 4 : 2);
      const end = payloadAt + (short === 126 ? bytes.readUInt16BE(at + 2) : short);
      if (end > bytes.length) return at;
      this.#readText(bytes, payloadAt, end);
      at = end;
    }
    return at;
  }

  #readText(bytes: Buffer, from: number, to: number): void {
    const at = bytes.indexOf(textField, from);
    if (at >= 0 && at < to) this.#onText(bytes, at + textField.length);
  }
}

function requestFor(transport: Transport, path: string): string {
  const upgrade =
    transport === 'sse'
      ? ''
      : 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  return `GET ${path} HTTP/1.1\r\nHost: bench\r\n${upgrade}\r\n`;
}
