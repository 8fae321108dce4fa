import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeProtectedHeader, exportPKCS8, generateKeyPair, jwtVerify, type CryptoKey } from 'jose';
import type { Aps } from './aps-fault.ts';
import { apnsRequestFault, type ApnsFault } from './apns-request.ts';
import { http2Sessions } from './http2-sessions.ts';
import { nextBehaviour } from './next-behaviour.ts';
import { readBody } from './read-body.ts';
import { selfSigned } from './self-signed.ts';

/** The behavior for a device token, each time or for the first few requests. */
export type ApnsBehaviour =
  | { readonly kind: 'ok' }
  /** Rejects with a documented reason; `timestamp` is for a 410. */
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly reason: string;
      readonly timestamp?: number;
      readonly retryAfterSeconds?: number;
    }
  /** Accepts the push and never responds. */
  | { readonly kind: 'hang' }
  /** Accepts the push and cuts the connection instead of responding. */
  | { readonly kind: 'reset' }
  /** A proxy responds instead, in its own format. */
  | { readonly kind: 'foreign'; readonly status: number; readonly text: string };

export interface ApnsPush {
  readonly token: string;
  /** `message_id` of the payload; undefined if absent. */
  readonly messageId: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly payload: {
    readonly aps: Aps;
  } & Readonly<Record<string, unknown>>;
  readonly bytes: number;
  readonly at: number;
}

export interface ApnsSimulator {
  readonly url: string;
  /** PEM certificate that clients must trust. */
  readonly certificate: string;
  /** The credentials that Apple would issue. */
  readonly key: string;
  readonly keyId: string;
  readonly teamId: string;
  readonly bundleId: string;
  /** All accepted pushes in order, including those without a response. */
  readonly pushes: readonly ApnsPush[];
  /** Time, device and response status of all requests; 0 without a response. */
  readonly requests: readonly {
    readonly at: number;
    readonly token: string;
    readonly status: number;
    readonly reason: string | null;
  }[];
  /** All distinct provider tokens. */
  readonly providerTokens: ReadonlySet<string>;
  readonly connections: number;
  /**
   * Sets the behavior for a device token, or for all others (`*`). A list applies one entry per request; the last one
   * stays.
   */
  script(token: string, ...behaviours: ApnsBehaviour[]): void;
  /** Sends GOAWAY on every connection, as APNs does before maintenance. */
  goAway(): void;
  close(): Promise<void>;
}

export interface ApnsOptions {
  /** Does not store pushes and requests, so that it can run for days. */
  readonly isForgetful?: boolean;
  readonly port?: number;
  /** Response time. */
  readonly latencyMs?: number;
  /** The clock for the age of tokens. */
  readonly clock?: () => number;
  /** Called with every accepted push. */
  readonly onPush?: (push: ApnsPush) => void;
}

/** A token is rejected after an hour, and a connection accepts a new one at most every 20 minutes. */
const tokenAgeMaxSeconds = 3_600;
const tokenChangeMs = 20 * 60_000;
const host = '127.0.0.1';
const [keyId, teamId, bundleId] = ['KEY1234567', 'TEAM123456', 'org.example.tocsin'];

/**
 * A server with the protocol of APNs over HTTP/2 and TLS, with its own certificate and signing key.
 * It checks each request against Apple's documentation (`apns-request.ts`).
 */
export async function startApnsSimulator(options: ApnsOptions = {}): Promise<ApnsSimulator> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const { cert, key: tlsKey } = await selfSigned(host);
  const state: State = {
    options,
    publicKey,
    pushes: [],
    requests: [],
    scripts: new Map(),
    providerTokens: new Set(),
  };
  const server = createSecureServer({ key: tlsKey, cert, settings: { maxConcurrentStreams: 1_000 } });
  // Uses streams directly, because request and response objects would double the cost.
  server.on('stream', (stream, headers) => {
    answer(state, stream, headers).catch(() => stream.destroy());
  });
  const sessions = http2Sessions(server);
  await once(server.listen(options.port ?? 0, host), 'listening');
  return {
    url: `https://${host}:${(server.address() as AddressInfo).port}`,
    certificate: cert,
    key: await exportPKCS8(privateKey),
    keyId,
    teamId,
    bundleId,
    pushes: state.pushes,
    requests: state.requests,
    providerTokens: state.providerTokens,
    get connections() {
      return sessions.opened;
    },
    script: (token, ...behaviours) => void state.scripts.set(token, behaviours),
    goAway: () => sessions.goAway(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        sessions.destroy();
      }),
  };
}

interface State {
  readonly options: ApnsOptions;
  readonly publicKey: CryptoKey;
  readonly pushes: ApnsPush[];
  readonly requests: { at: number; token: string; status: number; reason: string | null }[];
  readonly scripts: Map<string, ApnsBehaviour[]>;
  readonly providerTokens: Set<string>;
}

/** The provider token of each connection and its arrival time. */
const tokensOfSessions = new WeakMap<object, { token: string; at: number }>();

async function answer(state: State, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
  const body = await readBody(stream);
  const token = headers[':path']!.split('/').at(-1)!;
  const entry = { at: Date.now(), token, status: 0, reason: null as string | null };
  if (state.options.isForgetful !== true) state.requests.push(entry);
  const reply = ({ status, reason, ...more }: ApnsFault & { timestamp?: number; retryAfterSeconds?: number }): void => {
    [entry.status, entry.reason] = [status, reason];
    const { retryAfterSeconds, ...shown } = more;
    stream.respond({
      ':status': status,
      'apns-id': apnsId,
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    });
    stream.end(JSON.stringify({ reason, ...shown }));
  };
  const apnsId = (headers['apns-id'] as string | undefined) ?? randomUUID().toUpperCase();
  if (state.options.latencyMs !== undefined) await pause(state.options.latencyMs);
  const fault = (await senderFault(state, stream, headers)) ?? apnsRequestFault({ headers, body }, bundleId);
  if (fault !== null) return reply(fault);
  const behaviour = nextBehaviour(state.scripts, token) ?? { kind: 'ok' };
  if (behaviour.kind === 'error') {
    const { kind: _, ...refusal } = behaviour;
    return reply(refusal);
  }
  if (behaviour.kind === 'foreign') {
    stream.respond({ ':status': behaviour.status, 'content-type': 'text/html' });
    return void stream.end(behaviour.text);
  }
  takePush(state, { token, headers, body });
  if (behaviour.kind === 'reset') return void stream.session?.socket.destroy();
  if (behaviour.kind === 'hang') return;
  entry.status = 200;
  stream.respond({ ':status': 200, 'apns-id': apnsId }, { endStream: true });
}

/** https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns */
async function senderFault(
  { options: { clock = Date.now }, ...state }: State,
  { session }: ServerHttp2Stream,
  { authorization }: IncomingHttpHeaders,
): Promise<ApnsFault | null> {
  const [, token] = /^bearer (.+)$/i.exec(authorization ?? '') ?? [];
  if (token === undefined) return { status: 403, reason: 'MissingProviderToken' };
  state.providerTokens.add(token);
  const known = tokensOfSessions.get(session!);
  if (known?.token === token) return null;
  try {
    if (decodeProtectedHeader(token).kid !== keyId) return { status: 403, reason: 'InvalidProviderToken' };
    const {
      payload: { iat },
    } = await jwtVerify(token, state.publicKey, { algorithms: ['ES256'], issuer: teamId, requiredClaims: ['iat'] });
    const age = clock() / 1_000 - iat!;
    if (age > tokenAgeMaxSeconds) return { status: 403, reason: 'ExpiredProviderToken' };
    if (age < -60) return { status: 403, reason: 'InvalidProviderToken' };
  } catch {
    return { status: 403, reason: 'InvalidProviderToken' };
  }
  if (known !== undefined && clock() - known.at < tokenChangeMs)
    return { status: 429, reason: 'TooManyProviderTokenUpdates' };
  tokensOfSessions.set(session!, { token, at: clock() });
  return null;
}

function takePush(
  state: State,
  { token, headers, body }: { token: string; headers: IncomingHttpHeaders; body: Buffer },
): void {
  const payload = JSON.parse(body.toString()) as ApnsPush['payload'];
  const messageId = payload['message_id'];
  const push = {
    token,
    headers,
    payload,
    bytes: body.length,
    at: Date.now(),
    messageId: typeof messageId === 'string' ? messageId : undefined,
  };
  if (state.options.isForgetful !== true) state.pushes.push(push);
  state.options.onPush?.(push);
}
