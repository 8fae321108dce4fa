import { createECDH, createHash, createPublicKey, randomUUID, type ECDH } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { jwtVerify } from 'jose';
import { decryptWebPush, type BrowserKeys } from './decrypt-web-push.ts';
import { nextBehaviour } from './next-behaviour.ts';
import { selfSigned } from './self-signed.ts';

/** The behavior for a browser, each time or for the first few requests. */
export type WebPushBehaviour =
  | { readonly kind: 'ok' }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly retryAfterSeconds?: number;
      readonly location?: string;
      /** The size of the response; default: a short text. */
      readonly bytes?: number;
    }
  /** Accepts the push and never responds. */
  | { readonly kind: 'hang' }
  /** Accepts the push and cuts the connection instead of responding. */
  | { readonly kind: 'reset' };

export interface WebPush {
  /** The subscription of the browser, as `newSubscription` returned it. */
  readonly token: string;
  /** `message_id` of the data; undefined if absent. */
  readonly messageId: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The decrypted payload. */
  readonly payload: {
    readonly title: string;
    readonly body: string;
    readonly data: Readonly<Record<string, unknown>>;
    readonly tag: string;
    readonly silent: boolean;
    readonly vibrates: boolean;
  };
  /** The size of the encrypted push. */
  readonly bytes: number;
  readonly at: number;
}

export interface WebPushSimulator {
  readonly url: string;
  /** Host and port, for the list of known push services. */
  readonly host: string;
  /** PEM certificate that clients must trust. */
  readonly certificate: string;
  /** The keys with which the browsers subscribed. */
  readonly vapid: { readonly publicKey: string; readonly privateKey: string; readonly subject: string };
  /** All accepted pushes in order, including those without a response. */
  readonly pushes: readonly WebPush[];
  /** Time, browser and response status of all requests; 0 without a response. */
  readonly requests: readonly { readonly at: number; readonly token: string; readonly status: number }[];
  /** Number of distinct signatures. */
  readonly signatures: ReadonlySet<string>;
  /** Returns the subscription of a new browser as JSON. */
  newSubscription(): string;
  /**
   * Sets the behavior for a browser, or for all others (`*`). A list applies one entry per request; the last one stays.
   */
  script(token: string, ...behaviours: WebPushBehaviour[]): void;
  close(): Promise<void>;
}

export interface WebPushOptions {
  /** Does not store pushes and requests, so that it can run for days. */
  readonly isForgetful?: boolean;
  readonly port?: number;
  /** Response time. */
  readonly latencyMs?: number;
  /** Accepts the signatures of any key, as if each browser had subscribed with the key of the sender. */
  readonly acceptsAnyKey?: boolean;
  /** Called with every accepted push. */
  readonly onPush?: (push: WebPush) => void;
}

const host = '127.0.0.1';
const subject = 'mailto:operator@example.org';
/** https://www.rfc-editor.org/rfc/rfc8030#section-7.2 and https://www.rfc-editor.org/rfc/rfc8292#section-2 */
const [bodyBytesMax, signatureSecondsMax] = [4_096, 24 * 3_600];

/** Returns the subscription of a browser at a simulator. The keys follow from the ID, so any process knows them. */
export function webPushSubscription(url: string, id: string = randomUUID()): string {
  const { ecdh, auth } = keysOf(id);
  const keys = { p256dh: ecdh.getPublicKey('base64url'), auth: auth.toString('base64url') };
  return JSON.stringify({ endpoint: `${url}/push/${id}`, keys });
}

function keysOf(id: string): BrowserKeys {
  const seed = (label: string): Buffer => createHash('sha256').update(`${label} ${id}`).digest();
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(seed('private key'));
  return { ecdh, auth: seed('auth').subarray(0, 16) };
}

/** Returns the key as 32 bytes in base64url; Node omits leading zeros. */
export function privateKeyOf(ecdh: ECDH): string {
  const key = ecdh.getPrivateKey();
  return Buffer.concat([Buffer.alloc(32 - key.length), key]).toString('base64url');
}

/**
 * A push service (RFC 8030) with its own certificate: checks the request and the signature (RFC 8292), and decrypts the
 * push as the browser would (RFC 8291).
 */
export async function startWebPushSimulator(options: WebPushOptions = {}): Promise<WebPushSimulator> {
  const { cert, key } = await selfSigned(host);
  const ecdh = createECDH('prime256v1');
  const publicKey = ecdh.generateKeys('base64url');
  const server = createServer({ cert, key });
  await once(server.listen(options.port ?? 0, host), 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `https://${host}:${port}`;
  const state: State = {
    options,
    publicKey: options.acceptsAnyKey === true ? null : publicKey,
    pushes: [],
    requests: [],
    signatures: new Set(),
    scripts: new Map(),
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answer(state, request, response).catch(() => response.destroy());
  });
  return {
    url,
    host: `${host}:${port}`,
    certificate: cert,
    vapid: { publicKey, privateKey: privateKeyOf(ecdh), subject },
    pushes: state.pushes,
    requests: state.requests,
    signatures: state.signatures,
    newSubscription: () => webPushSubscription(url),
    script: (token, ...behaviours) => void state.scripts.set(token, behaviours),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface State {
  readonly options: WebPushOptions;
  /** Null accepts any key. */
  readonly publicKey: string | null;
  readonly pushes: WebPush[];
  readonly requests: { at: number; token: string; status: number }[];
  readonly signatures: Set<string>;
  readonly scripts: Map<string, WebPushBehaviour[]>;
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, id] = /^\/push\/([\w-]+)$/.exec(request.url ?? '') ?? [];
  if (request.method !== 'POST' || id === undefined) return void response.writeHead(404).end('no such subscription');
  // A client may reach the simulator through a proxy with another port.
  const url = `https://${request.headers.host}`;
  const token = webPushSubscription(url, id);
  const entry = { at: Date.now(), token, status: 0 };
  if (state.options.isForgetful !== true) state.requests.push(entry);
  const reply = (status: number, body: string | Buffer, headers: Record<string, string> = {}): void => {
    entry.status = status;
    response.writeHead(status, headers).end(body);
  };
  const body = await read(request);
  if (state.options.latencyMs !== undefined) await pause(state.options.latencyMs);
  const fault = (await senderFault(state, request.headers, url)) ?? requestFault(request.headers, body);
  if (fault !== null) return reply(fault.status, fault.reason);
  const behaviour = nextBehaviour(state.scripts, token) ?? { kind: 'ok' };
  if (behaviour.kind === 'error') {
    const { status, retryAfterSeconds, location, bytes } = behaviour;
    return reply(status, bytes === undefined ? 'scripted' : Buffer.alloc(bytes), {
      ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
      ...(location === undefined ? {} : { Location: location }),
    });
  }
  const payload = decrypted(body, id);
  if (payload === null) return reply(400, 'the browser cannot decrypt the push');
  takePush(state, { token, headers: request.headers, payload, bytes: body.length });
  if (behaviour.kind === 'reset') return void request.socket.destroy();
  if (behaviour.kind === 'hang') return;
  reply(201, '', { Location: `${url}/message/${randomUUID()}` });
}

interface Fault {
  readonly status: number;
  readonly reason: string;
}

/** https://www.rfc-editor.org/rfc/rfc8292#section-2 */
async function senderFault(
  state: State,
  { authorization = '' }: IncomingHttpHeaders,
  audience: string,
): Promise<Fault | null> {
  const [, token, key] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? [];
  if (token === undefined || key === undefined) return { status: 401, reason: 'no VAPID signature' };
  if (state.publicKey !== null && key !== state.publicKey)
    return { status: 403, reason: 'the browser subscribed with another key' };
  state.signatures.add(token);
  try {
    const [x, y] = [Buffer.from(key, 'base64url').subarray(1, 33), Buffer.from(key, 'base64url').subarray(33)];
    const jwk = { kty: 'EC', crv: 'P-256', x: x.toString('base64url'), y: y.toString('base64url') };
    const { payload } = await jwtVerify(token, createPublicKey({ key: jwk, format: 'jwk' }), {
      algorithms: ['ES256'],
      audience,
      requiredClaims: ['exp', 'sub'],
    });
    if (payload.exp! - Date.now() / 1_000 > signatureSecondsMax) return { status: 401, reason: 'exp is too late' };
    return /^(mailto:|https:)/.test(payload.sub!) ? null : { status: 401, reason: 'invalid sub' };
  } catch {
    return { status: 401, reason: 'invalid signature' };
  }
}

/** https://www.rfc-editor.org/rfc/rfc8030#section-5 */
function requestFault(headers: IncomingHttpHeaders, body: Buffer): Fault | null {
  if (body.length > bodyBytesMax) return { status: 413, reason: 'the push is too large' };
  if (headers['content-encoding'] !== 'aes128gcm') return { status: 400, reason: 'not aes128gcm' };
  if (!/^\d+$/.test(String(headers['ttl']))) return { status: 400, reason: 'no TTL' };
  if (!/^(very-low|low|normal|high)$/.test(String(headers['urgency']))) return { status: 400, reason: 'bad urgency' };
  const { topic } = headers;
  return topic === undefined || /^[\w-]{1,32}$/.test(String(topic)) ? null : { status: 400, reason: 'bad topic' };
}

function decrypted(body: Buffer, id: string): WebPush['payload'] | null {
  try {
    return JSON.parse(decryptWebPush(body, keysOf(id)).toString()) as WebPush['payload'];
  } catch {
    return null;
  }
}

function takePush(state: State, given: Pick<WebPush, 'token' | 'headers' | 'payload' | 'bytes'>): void {
  const messageId = given.payload.data['message_id'];
  const push = { ...given, at: Date.now(), messageId: typeof messageId === 'string' ? messageId : undefined };
  if (state.options.isForgetful !== true) state.pushes.push(push);
  state.options.onPush?.(push);
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
