import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { http } from '@tocsin/shared/platform/node-http.ts';
import { WebSocketServer, type WebSocket } from 'ws';
import type { z } from 'zod';
import type { ApiDeps } from './api-deps.ts';
import type { StreamKind } from './features/streams/stream-kind.ts';
import { topicStream } from './features/streams/stream-topic.ts';
import { topicsStream } from './features/streams/stream-topics.ts';
import { allowedOrigins, mayConnect } from './http/allowed-origins.ts';
import { audienceAt } from './http/audience-at.ts';
import { setCommonHeaders } from './http/common-headers.ts';
import type { RequestContext } from './http/route.ts';
import { readQuery, requireCredentialOnce } from './http/read-query.ts';
import { admit, sendError } from './http/run-route.ts';
import { endSocket } from './server/end-socket.ts';
import { WebSocketSink } from './live/websocket-sink.ts';

/** Frames from clients are ignored; a larger one closes the connection with 1009. */
const frameBytesMax = 64 * 1024;

/**
 * Serves WebSocket upgrades of `/{topic}/ws` and `/ws`. Rejects a stream in the handshake with the same status and body
 * as over HTTP.
 */
export function upgrades(deps: ApiDeps): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: frameBytesMax });
  server.on('wsClientError', () => undefined); // `ws` must not respond itself
  const origins = allowedOrigins(deps);
  return (request, socket, head) => {
    socket.on('error', destroy);
    const response = refusalOn(deps, request, socket as Socket);
    const acceptSocket = () => {
      const accepted = accept(server, { request, socket, head, response });
      response.detachSocket(socket as Socket);
      return accepted;
    };
    void serve(deps, origins, { request, response, acceptSocket }).catch((error: unknown) => {
      sendError(deps.log, response, error);
      response.once('finish', () => endSocket(socket));
    });
  };
}

interface Connecting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly acceptSocket: () => WebSocket;
}

async function serve(deps: ApiDeps, origins: ReadonlySet<string>, connecting: Connecting): Promise<void> {
  const url = connecting.request.url ?? '';
  const { origin } = connecting.request.headers;
  if (!mayConnect(origins, origin)) {
    await admit(deps, { audience: 'unread' }, connecting.request, connecting.response);
    throw new AppError('forbidden', `WebSockets from ${origin} are not allowed: add it to CORS_ORIGINS`);
  }
  const path = url.split('?', 1)[0]!;
  if (path === '/ws') return open(deps, topicsStream(deps), connecting, {});
  const topic = /^\/([^/]+)\/ws$/.exec(path)?.[1];
  if (topic !== undefined) return open(deps, topicStream(deps), connecting, { topic });
  await admit(deps, { audience: audienceAt(url) }, connecting.request, connecting.response);
  throw new AppError('not_found', 'Not found');
}

/** The same checks as over HTTP, in the same order. */
async function open<L, Q extends z.ZodObject>(
  deps: ApiDeps,
  { route, open: openStream }: StreamKind<L, Q>,
  { request, response, acceptSocket }: Connecting,
  params: Record<string, string>,
): Promise<void> {
  const admitted = await admit(deps, route, request, response);
  const context: RequestContext = {
    ...admitted,
    params: Object.fromEntries(Object.entries(params).map(([name, segment]) => [name, decode(segment)])),
  };
  const loaded = await route.load(context);
  requireCredentialOnce(context.searchParams, route);
  const openSink = () => new WebSocketSink(acceptSocket(), request.socket);
  await openStream(context, { loaded, query: readQuery(route.query, context) }, openSink);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new AppError('invalid', 'The path is not valid percent-encoding', { cause });
  }
}

interface Handshake {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Has the headers of every response. */
  readonly response: ServerResponse;
}

// Listeners of open sockets: closures would retain the request.
const ignore = (): void => undefined;
function destroy(this: Duplex): void {
  this.destroy();
}

/** `ws` completes a valid handshake synchronously. Throws 400 for an invalid one. */
function accept(server: WebSocketServer, { request, socket, head, response }: Handshake): WebSocket {
  let accepted: WebSocket | undefined;
  const addHeaders = (headers: string[]) => {
    for (const [name, value] of Object.entries(response.getHeaders())) headers.push(`${name}: ${String(value)}`);
  };
  server.once('headers', addHeaders);
  server.handleUpgrade(request, socket, head, (webSocket) => {
    accepted = webSocket;
    webSocket.on('error', ignore); // after a protocol error `ws` closes the socket
  });
  server.off('headers', addHeaders);
  if (accepted === undefined) throw new AppError('invalid', 'Not a valid WebSocket handshake');
  return accepted;
}

/** An HTTP response on the raw socket, used only to refuse the upgrade. */
function refusalOn(deps: ApiDeps, request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new http.ServerResponse(request);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  setCommonHeaders(deps, request, response);
  return response;
}
