import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

// The baseline for fan-out: the server writes each posted message to every open stream as one prepared buffer. It
// stores, checks and limits nothing. The object has the fields of a message, so the server sends as many bytes as
// Tocsin.
const responses = new Set<ServerResponse>();
const sockets = new Set<Duplex>();
const topicId = randomUUID();
const time = new Date().toISOString();
let offset = 0;

const server = createServer((request, response) => {
  if (request.method === 'POST') publish(request, response);
  else stream(response);
});

function publish(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const id = randomUUID();
    const json = JSON.stringify({
      id,
      topic_id: topicId,
      topic: 'bench',
      message: Buffer.concat(chunks).toString(),
      title: null,
      priority: 3,
      tags: [],
      timestamp: time,
      expires_at: time,
      offset: offset++,
      markdown: false,
      is_deleted: false,
      is_edited: false,
      deleted_at: null,
      edited_at: null,
    });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(json) });
    response.end(json);
    const event = Buffer.from(`id: ${id}\nevent: message\ndata: ${json}\n\n`);
    for (const open of responses) open.write(event);
    const frame = frameOf(`{"type":"message",${json.slice(1)}`);
    for (const open of sockets) open.write(frame);
  });
}

function stream(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache' });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  responses.add(response);
  response.on('close', () => responses.delete(response));
}

/** One text frame of 126 to 65,535 bytes (RFC 6455 §5.2). */
function frameOf(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 126, payload.length >> 8, payload.length & 0xff]), payload]);
}

server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  sockets.add(socket);
  const leave = () => sockets.delete(socket);
  socket.on('close', leave).on('error', leave).resume();
});

server.listen(0, '127.0.0.1', 4_096, () => process.stdout.write(`${(server.address() as { port: number }).port}\n`));
