import { connect, type Socket } from 'node:net';

/**
 * A keep-alive HTTP/1.1 connection for load: sends prepared bytes and counts answers, one request at a time. It reads
 * no more of an answer than its status and length, so that the generator costs little beside the server.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #onAnswer: ((status: number) => void) | undefined;
  #onError: ((error: Error) => void) | undefined;
  #buffered = '';
  #bodyLeft = -1;
  #status = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => this.#read(chunk));
    socket.on('error', (error) => this.#onError?.(error));
    socket.on('close', () => this.#onError?.(new Error('the server closed the connection')));
  }

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new HttpConnection(socket)));
      socket.once('error', reject);
    });
  }

  /** Resolves with the answer's status. */
  request(bytes: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#onAnswer = resolve;
      this.#onError = reject;
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#onError = undefined;
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    if (this.#bodyLeft >= 0) {
      this.#bodyLeft -= chunk.length;
    } else {
      this.#buffered += chunk;
      const headersEnd = this.#buffered.indexOf('\r\n\r\n');
      if (headersEnd < 0) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#buffered);
      if (length === null) throw new Error('an answer without Content-Length');
      this.#status = Number(this.#buffered.slice(9, 12));
      this.#bodyLeft = Number(length[1]) - (this.#buffered.length - headersEnd - 4);
      this.#buffered = '';
    }
    if (this.#bodyLeft > 0) return;
    this.#bodyLeft = -1;
    this.#onAnswer?.(this.#status);
  }
}

/** The bytes of a publish. */
export function publishRequest(path: string, text: string): Buffer {
  const body = Buffer.from(text);
  const head = `POST ${path} HTTP/1.1\r\nHost: bench\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
