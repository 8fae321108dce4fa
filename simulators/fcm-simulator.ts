import { once } from 'node:events';
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { exportPKCS8, generateKeyPair, jwtVerify, type CryptoKey } from 'jose';
import { fcmMessageFault, type FcmFault } from './fcm-message.ts';
import { http2Sessions } from './http2-sessions.ts';
import { nextBehaviour } from './next-behaviour.ts';
import { readBody } from './read-body.ts';

/** The behavior for a registration token, each time or for the first few requests. */
export type FcmBehaviour =
  | { readonly kind: 'ok' }
  /** Rejects with an FCM error code: `UNREGISTERED`, `QUOTA_EXCEEDED`, … */
  | { readonly kind: 'error'; readonly status: number; readonly code: string; readonly retryAfterSeconds?: number }
  /** Rejects the message with `INVALID_ARGUMENT`, but accepts a validation request. */
  | { readonly kind: 'bad-message' }
  /** Accepts the push and never responds. */
  | { readonly kind: 'hang' }
  /** Accepts the push and cuts the connection instead of responding. */
  | { readonly kind: 'reset' }
  /** A proxy responds instead, in its own format. */
  | { readonly kind: 'foreign'; readonly status: number; readonly text: string };

export interface FcmPush {
  readonly token: string;
  /** `data.message_id`; undefined if absent. */
  readonly messageId: string | undefined;
  readonly message: {
    readonly notification?: { title?: string; body?: string };
    readonly data?: Readonly<Record<string, string>>;
    readonly android?: { priority?: string; ttl?: string; notification?: Record<string, unknown> };
  };
  readonly at: number;
}

export interface FcmSimulator {
  readonly url: string;
  /** A service account file whose tokens come from this simulator. */
  readonly serviceAccount: string;
  /** All accepted pushes in order, including those without a response; without validation requests. */
  readonly pushes: readonly FcmPush[];
  readonly requests: readonly { readonly at: number; readonly token: string | null; readonly status: number }[];
  readonly connections: number;
  /** The issued access tokens. */
  readonly accessTokens: ReadonlySet<string>;
  /**
   * Sets the behavior for a token, or for all others (`*`). A list applies one entry per request; the last one stays.
   */
  script(token: string, ...behaviours: FcmBehaviour[]): void;
  /** Revokes all issued access tokens. */
  revoke(): void;
  /** Rejects the next requests for an access token. */
  refuseTokens(count: number): void;
  goAway(): void;
  close(): Promise<void>;
}

export interface FcmOptions {
  /** Does not store pushes and requests, so that it can run for days. */
  readonly isForgetful?: boolean;
  readonly port?: number;
  readonly latencyMs?: number;
  /** Called with every accepted push. */
  readonly onPush?: (push: FcmPush) => void;
}

interface State {
  readonly options: FcmOptions;
  readonly publicKey: CryptoKey;
  readonly pushes: FcmPush[];
  readonly requests: { at: number; token: string | null; status: number }[];
  readonly scripts: Map<string, FcmBehaviour[]>;
  readonly accessTokens: Set<string>;
  tokenUri: string;
  tokensToRefuse: number;
}

const host = '127.0.0.1';
const projectId = 'tocsin-simulated';
const clientEmail = `pusher@${projectId}.iam.gserviceaccount.com`;
const scope = 'https://www.googleapis.com/auth/firebase.messaging';

/**
 * A server with FCM's HTTP v1 API (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send) over
 * HTTP/2 without TLS, and a server that issues access tokens like Google for service accounts
 * (https://developers.google.com/identity/protocols/oauth2/service-account). `fcm-message.ts` checks the messages.
 */
export async function startFcmSimulator(options: FcmOptions = {}): Promise<FcmSimulator> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const state: State = {
    options,
    publicKey,
    pushes: [],
    requests: [],
    scripts: new Map(),
    accessTokens: new Set(),
    tokenUri: '',
    tokensToRefuse: 0,
  };
  const server = createHttp2Server({ settings: { maxConcurrentStreams: 1_000 } });
  // Uses streams directly, because request and response objects would double the cost.
  server.on('stream', (stream, headers) => {
    answer(state, stream, headers).catch(() => stream.destroy());
  });
  const sessions = http2Sessions(server);
  const tokens = createServer((request, response) => {
    giveToken(state, request, response).catch(() => response.destroy());
  });
  const port = await listen(server, options.port);
  state.tokenUri = `http://${host}:${await listen(tokens)}/token`;
  const account = {
    type: 'service_account',
    project_id: projectId,
    private_key_id: randomBytes(8).toString('hex'),
    private_key: await exportPKCS8(privateKey),
    client_email: clientEmail,
    client_id: '1',
    token_uri: state.tokenUri,
  };
  return {
    url: `http://${host}:${port}`,
    serviceAccount: JSON.stringify(account),
    pushes: state.pushes,
    requests: state.requests,
    accessTokens: state.accessTokens,
    get connections() {
      return sessions.opened;
    },
    script: (token, ...behaviours) => void state.scripts.set(token, behaviours),
    revoke: () => state.accessTokens.clear(),
    refuseTokens: (count) => void (state.tokensToRefuse = count),
    goAway: () => sessions.goAway(),
    async close() {
      sessions.destroy();
      tokens.closeAllConnections();
      await Promise.all([server, tokens].map((one) => new Promise((resolve) => one.close(resolve))));
    },
  };
}

async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, host), 'listening');
  return (server.address() as AddressInfo).port;
}

async function giveToken(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams(await text(request));
  const reply = (status: number, body: object) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    return void reply(400, { error: 'unsupported_grant_type' });
  try {
    const { payload } = await jwtVerify(form.get('assertion') ?? '', state.publicKey, {
      algorithms: ['RS256'],
      issuer: clientEmail,
      audience: state.tokenUri,
      requiredClaims: ['iat', 'exp'],
    });
    if (!String(payload['scope']).split(' ').includes(scope)) return void reply(400, { error: 'invalid_scope' });
  } catch {
    return void reply(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' });
  }
  if (state.tokensToRefuse > 0) {
    state.tokensToRefuse -= 1;
    return void reply(400, { error: 'invalid_grant', error_description: 'Scripted.' });
  }
  const accessToken = `ya29.${randomBytes(24).toString('base64url')}`;
  state.accessTokens.add(accessToken);
  reply(200, { access_token: accessToken, expires_in: 3_599, token_type: 'Bearer' });
}

async function answer(state: State, stream: ServerHttp2Stream, requestHeaders: IncomingHttpHeaders): Promise<void> {
  const body = parsed(await readBody(stream)) as
    { message?: FcmPush['message'] & { token?: string }; validate_only?: boolean } | undefined;
  const token = typeof body?.message?.token === 'string' ? body.message.token : null;
  const entry = { at: Date.now(), token, status: 0 };
  if (state.options.isForgetful !== true) state.requests.push(entry);
  const reply = (status: number, answered: object, headers: Record<string, string> = {}): void => {
    entry.status = status;
    stream.respond({ ':status': status, 'content-type': 'application/json; charset=UTF-8', ...headers });
    stream.end(JSON.stringify(answered));
  };
  const refuse = ({ status, code, message }: FcmFault, headers?: Record<string, string>): void =>
    reply(status, errorBody({ status, code, message }), headers);
  if (state.options.latencyMs !== undefined) await pause(state.options.latencyMs);
  const fault = requestFault(state, requestHeaders) ?? fcmMessageFault(body);
  if (fault !== null) return refuse(fault);
  const behaviour = nextBehaviour(state.scripts, token!) ?? { kind: 'ok' };
  if (behaviour.kind === 'error') {
    const headers: Record<string, string> =
      behaviour.retryAfterSeconds === undefined ? {} : { 'retry-after': String(behaviour.retryAfterSeconds) };
    return refuse({ status: behaviour.status, code: behaviour.code, message: 'scripted' }, headers);
  }
  if (behaviour.kind === 'foreign') {
    stream.respond({ ':status': behaviour.status, 'content-type': 'text/html' });
    return void stream.end(behaviour.text);
  }
  if (behaviour.kind === 'bad-message' && body!.validate_only !== true)
    return refuse({ status: 400, code: 'INVALID_ARGUMENT', message: 'scripted' });
  if (body!.validate_only !== true) takePush(state, token!, body!.message!);
  if (behaviour.kind === 'reset') return void stream.session?.socket.destroy();
  if (behaviour.kind === 'hang') return;
  reply(200, { name: `projects/${projectId}/messages/${randomUUID()}` });
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function requestFault(state: State, headers: IncomingHttpHeaders): FcmFault | null {
  if (headers[':method'] !== 'POST' || headers[':path'] !== `/v1/projects/${projectId}/messages:send`)
    return { status: 404, code: 'NOT_FOUND', message: 'Requested entity was not found.' };
  const [, token] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
  if (token !== undefined && state.accessTokens.has(token)) return null;
  return { status: 401, code: 'UNAUTHENTICATED', message: 'Request had invalid authentication credentials.' };
}

/** Builds the error body: the status name, and FCM's code in the details if there is one. */
const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

function errorBody({ status, code, message }: FcmFault): object {
  const known = statuses[status] ?? 'UNKNOWN';
  const details =
    code === known ? [] : [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: code }];
  return { error: { code: status, message, status: known, details } };
}

function takePush(state: State, token: string, message: FcmPush['message']): void {
  const push = { token, message, messageId: message.data?.['message_id'], at: Date.now() };
  if (state.options.isForgetful !== true) state.pushes.push(push);
  state.options.onPush?.(push);
}
