import { connect, type Socket } from 'node:net';

export const transports = ['sse', 'ws'] as const;
export type Transport = (typeof transports)[number];

/** Receives the bytes of a message and the index of its text. The bytes are valid only during the call. */
export type OnText = (bytes: Buffer, textAt: number) => void;

const headEnd = Buffer.from('\r\n\r\n');
const eventEnd = Buffer.from('\n\n');
const textField = Buffer.from('"message":"');
/** Shared by all connections: each read is processed before the next one. */
const readBuffer = Buffer.allocUnsafe(256 * 1024);

/**
 * A load-test subscriber over SSE or a WebSocket. It finds the text of each complete message and parses nothing else.
 * It does not answer pings, so it does not suit streams that last minutes. It expects each event in a single chunk of
 * the response, as all measured servers write it; an event split over chunks would count as lost.
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
   * Resolves when the server has opened the stream; rejects if it refuses. If the stream ends before `close`, throws an
   * uncaught error, which fails the generator.
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
      refuse(new Error(`the server refused a stream: ${bytes.toString('latin1', 0, end)}`));
      return bytes.length;
    }
    this.#isOpen = true;
    this.#onOpen?.();
    return end + headEnd.length;
  }

  /** The index at which the first incomplete event begins. */
  #readEvents(bytes: Buffer, from: number): number {
    let at = from;
    for (;;) {
      const end = bytes.indexOf(eventEnd, at);
      if (end < 0) return at;
      this.#readText(bytes, at, end);
      at = end + eventEnd.length;
    }
  }

  /** The index at which the first incomplete frame begins. Server frames are not masked (RFC 6455 §5.1). */
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
