import { connect, type Socket } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');
/** Shared by all connections: each read is processed before the next one. */
const readBuffer = Buffer.allocUnsafe(256 * 1024);

/**
 * A keep-alive HTTP/1.1 connection for load tests: sends prepared bytes and waits for the response, one request at a
 * time. It parses only the status and the length, so the generator uses little CPU compared with the server.
 */
export class HttpConnection {
  #socket!: Socket;
  #onAnswer: ((status: number) => void) | undefined;
  #onError: ((error: Error) => void) | undefined;
  #onBody: ((chunk: Buffer) => void) | undefined;
  #head: Buffer | undefined;
  #bodyLeft = -1;
  #status = 0;

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const connection = new HttpConnection();
      connection.#onError = reject;
      const callback = (length: number) => {
        connection.#read(readBuffer.subarray(0, length));
        return true;
      };
      const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer: readBuffer, callback } });
      socket.on('connect', () => resolve(connection));
      socket.on('error', (error) => connection.#onError?.(error));
      socket.on('close', () => connection.#onError?.(new Error('the server closed the connection')));
      connection.#socket = socket;
    });
  }

  /**
   * Resolves with the status of the response. `onBody` receives the bytes of the body, which are valid only during the
   * call.
   */
  request(bytes: Buffer, onBody?: (chunk: Buffer) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#onAnswer = resolve;
      this.#onError = reject;
      this.#onBody = onBody;
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#onError = undefined;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const body = this.#bodyLeft < 0 ? this.#readHead(chunk) : chunk;
    if (body === undefined) return;
    this.#bodyLeft -= body.length;
    this.#onBody?.(body);
    if (this.#bodyLeft > 0) return;
    this.#bodyLeft = -1;
    this.#onAnswer?.(this.#status);
  }

  /** Returns the bytes after the head, or undefined if the head is incomplete. */
  #readHead(chunk: Buffer): Buffer | undefined {
    const bytes = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
    const end = bytes.indexOf(headEnd);
    if (end < 0) {
      this.#head = Buffer.from(bytes);
      return undefined;
    }
    this.#head = undefined;
    const head = bytes.toString('latin1', 0, end + 2);
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head);
    if (length === null) throw new Error(`a response without Content-Length: ${head}`);
    this.#status = Number(head.slice(9, 12));
    this.#bodyLeft = Number(length[1]);
    return bytes.subarray(end + headEnd.length);
  }
}

/** Returns the bytes of a publish. */
export function publishRequest(path: string, text: string): Buffer {
  const body = Buffer.from(text);
  const head = `POST ${path} HTTP/1.1\r\nHost: bench\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** Returns the bytes of a GET, with the access token if one is given. */
export function getRequest(path: string, token?: string): Buffer {
  const credential = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: bench\r\n${credential}\r\n`);
}
