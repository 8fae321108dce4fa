import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expoMessageFault, payloadBytes, type ExpoMessage } from './expo-message.ts';
import { nextBehaviour } from './next-behaviour.ts';

/** The behavior for a token, each time or for the first few requests. */
export type ExpoBehaviour =
  | { readonly kind: 'ok' }
  /** A ticket with this error: `DeviceNotRegistered`, `MessageRateExceeded`, … */
  | { readonly kind: 'ticket-error'; readonly error: string }
  /** A ticket, and later a receipt with this error. */
  | { readonly kind: 'receipt-error'; readonly error: string }
  /** The whole request fails with this status. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** Accepts the pushes and never responds. */
  | { readonly kind: 'hang' }
  /** Accepts the pushes and cuts the connection instead of responding. */
  | { readonly kind: 'reset' }
  /** A proxy responds instead, in its own format. */
  | { readonly kind: 'foreign'; readonly status: number; readonly text: string };

export interface ExpoPush {
  readonly token: string;
  /** `data.message_id`; undefined if absent. */
  readonly messageId: string | undefined;
  readonly message: ExpoMessage;
  readonly at: number;
}

export interface ExpoSimulator {
  readonly url: string;
  /** All accepted pushes in order, including those without a response. */
  readonly pushes: readonly ExpoPush[];
  /** Time and response status of all requests; 0 without a response. */
  readonly requests: readonly { readonly at: number; readonly size: number; readonly status: number }[];
  /**
   * Sets the behavior for a token, or for all others (`*`). A list applies one entry per request; the last one stays.
   */
  script(token: string, ...behaviours: ExpoBehaviour[]): void;
  /** Assigns a token to another Expo project. */
  setProject(token: string, project: string): void;
  /** Returns the number of duplicate pushes per token and message. */
  duplicates(): Map<string, number>;
  close(): Promise<void>;
}

export interface ExpoOptions {
  /** Does not store pushes and requests, so that it can run for days. */
  readonly isForgetful?: boolean;
  /** Required in every request, if set. */
  readonly accessToken?: string;
  readonly port?: number;
  /** Response time. */
  readonly latencyMs?: number;
  /** Called with every accepted push. */
  readonly onPush?: ((push: ExpoPush) => void) | undefined;
}

/**
 * A server with Expo's push API (https://docs.expo.dev/push-notifications/sending-notifications/):
 * `/--/api/v2/push/send` and `/--/api/v2/push/getReceipts`, bodies gzipped or not, 100 pushes and 1,000 receipts a
 * request, one project per request, 4,096 bytes per push, and an access token if configured.
 */
export async function startExpoSimulator(options: ExpoOptions = {}): Promise<ExpoSimulator> {
  const state: State = {
    options,
    pushes: [],
    requests: [],
    receipts: new Map(),
    scripts: new Map(),
    projects: new Map(),
  };
  const server = createServer((request, response) => {
    answer(state, request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await once(server.listen(options.port ?? 0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    pushes: state.pushes,
    requests: state.requests,
    script: (token, ...behaviours) => void state.scripts.set(token, behaviours),
    setProject: (token, project) => void state.projects.set(token, project),
    duplicates: () => countDuplicates(state.pushes),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface State {
  readonly options: ExpoOptions;
  readonly pushes: ExpoPush[];
  readonly requests: { at: number; size: number; status: number }[];
  readonly receipts: Map<string, object>;
  readonly scripts: Map<string, ExpoBehaviour[]>;
  readonly projects: Map<string, string>;
}

/** Removes the oldest ones, as Expo does after a day. */
const receiptsMax = 100_000;

/** Sends a response with the `errors` of a failed request. */
class RequestError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: object | undefined;
  constructor(status: number, code: string, message: string, details?: object) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const entry = { at: Date.now(), size: 0, status: 0 };
  const reply = (status: number, body: object, headers: Record<string, string> = {}): void => {
    entry.status = status;
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
  if (state.options.isForgetful !== true) state.requests.push(entry);
  try {
    if (request.method !== 'POST') throw new RequestError(404, 'NOT_FOUND', 'Not found');
    checkAccessToken(state, request);
    const body = await readJson(request);
    if (state.options.latencyMs !== undefined) await pause(state.options.latencyMs);
    if (request.url === '/--/api/v2/push/send') {
      const messages = readMessages(body);
      entry.size = messages.length;
      send(state, messages, { request, response, reply, isSingle: !Array.isArray(body) });
    } else if (request.url === '/--/api/v2/push/getReceipts') {
      reply(200, { data: receiptsOf(state, body) });
    } else {
      throw new RequestError(404, 'NOT_FOUND', 'Not found');
    }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { code, message, details } = error;
    reply(error.status, { errors: [{ code, message, ...(details === undefined ? {} : { details }) }] });
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly reply: (status: number, body: object, headers?: Record<string, string>) => void;
  /** A single message for a single token gets a ticket instead of a list. */
  readonly isSingle: boolean;
}

function send(state: State, messages: readonly ExpoMessage[], exchange: Exchange): void {
  checkProjects(state, messages);
  const behaviours = messages.map((message) => nextBehaviour(state.scripts, message.to) ?? { kind: 'ok' as const });
  const refusal = behaviours.find((behaviour) => behaviour.kind === 'status');
  if (refusal !== undefined) {
    const headers: Record<string, string> =
      refusal.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(refusal.retryAfterSeconds) };
    const code = refusal.status === 429 ? 'TOO_MANY_REQUESTS' : 'FAILED';
    return exchange.reply(refusal.status, { errors: [{ code, message: 'scripted' }] }, headers);
  }
  const foreign = behaviours.find((behaviour) => behaviour.kind === 'foreign');
  if (foreign !== undefined)
    return void exchange.response.writeHead(foreign.status, { 'Content-Type': 'text/html' }).end(foreign.text);
  const tickets = messages.map((message, index) => takePush(state, message, behaviours[index]!));
  if (behaviours.some((behaviour) => behaviour.kind === 'hang')) return;
  if (behaviours.some((behaviour) => behaviour.kind === 'reset')) return void exchange.request.socket.destroy();
  exchange.reply(200, { data: exchange.isSingle ? tickets[0] : tickets });
}

function takePush(state: State, message: ExpoMessage, behaviour: ExpoBehaviour): object {
  if (!/^Expo(nent)?PushToken\[.+\]$/.test(message.to))
    return errorTicket('DeviceNotRegistered', `"${message.to}" is not a valid Expo push token`);
  if (behaviour.kind === 'ticket-error') return errorTicket(behaviour.error, `scripted for "${message.to}"`);
  const messageId = message.data?.['message_id'];
  const push = {
    token: message.to,
    messageId: typeof messageId === 'string' ? messageId : undefined,
    message,
    at: Date.now(),
  };
  if (state.options.isForgetful !== true) state.pushes.push(push);
  state.options.onPush?.(push);
  const id = randomUUID();
  state.receipts.set(id, receiptFor(message, behaviour));
  if (state.receipts.size > receiptsMax) state.receipts.delete(state.receipts.keys().next().value!);
  return { status: 'ok', id };
}

function receiptFor(message: ExpoMessage, behaviour: ExpoBehaviour): object {
  if (behaviour.kind === 'receipt-error') return errorTicket(behaviour.error, `scripted for "${message.to}"`);
  return payloadBytes(message) > 4_096
    ? errorTicket('MessageTooBig', 'the payload is over 4096 bytes')
    : { status: 'ok' };
}

function errorTicket(error: string, message: string): object {
  return { status: 'error', message, details: { error } };
}

function checkAccessToken(state: State, request: IncomingMessage): void {
  const { accessToken } = state.options;
  if (accessToken === undefined || request.headers.authorization === `Bearer ${accessToken}`) return;
  throw new RequestError(401, 'UNAUTHORIZED', 'This project requires an access token');
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const isGzip = request.headers['content-encoding'] === 'gzip';
  if (request.headers['content-type'] !== 'application/json')
    throw new RequestError(400, 'VALIDATION_ERROR', 'The body must be JSON');
  try {
    return JSON.parse((isGzip ? gunzipSync(raw) : raw).toString('utf8'));
  } catch (error) {
    throw new RequestError(400, 'VALIDATION_ERROR', `The body cannot be read: ${(error as Error).message}`);
  }
}

/** One message per token: `to` may be a list. */
function readMessages(body: unknown): ExpoMessage[] {
  const given: readonly unknown[] = Array.isArray(body) ? body : [body];
  for (const [index, message] of given.entries()) {
    const fault = expoMessageFault(message);
    if (fault !== null) throw new RequestError(400, 'VALIDATION_ERROR', `"value[${index}]": ${fault}`);
  }
  const messages = (given as (Omit<ExpoMessage, 'to'> & { to: string | string[] })[]).flatMap((message) =>
    [message.to].flat().map((to) => ({ ...message, to })),
  );
  if (messages.length > 100)
    throw new RequestError(400, 'PUSH_TOO_MANY_NOTIFICATIONS', 'More than 100 pushes in one request');
  return messages;
}

function checkProjects(state: State, messages: readonly ExpoMessage[]): void {
  const byProject: Record<string, string[]> = {};
  for (const { to } of messages) (byProject[state.projects.get(to) ?? '@tocsin/app'] ??= []).push(to);
  if (Object.keys(byProject).length < 2) return;
  throw new RequestError(
    400,
    'PUSH_TOO_MANY_EXPERIENCE_IDS',
    'All pushes of a request must be for one project',
    byProject,
  );
}

function receiptsOf(state: State, body: unknown): object {
  const ids = (body as { ids?: unknown } | null)?.ids;
  if (!Array.isArray(ids) || ids.some((id) => typeof id !== 'string'))
    throw new RequestError(400, 'VALIDATION_ERROR', '"ids" must be a list of strings');
  if (ids.length > 1_000)
    throw new RequestError(400, 'PUSH_TOO_MANY_RECEIPTS', 'More than 1000 receipts in one request');
  return Object.fromEntries(
    (ids as string[]).flatMap((id) => (state.receipts.has(id) ? [[id, state.receipts.get(id)]] : [])),
  );
}

function countDuplicates(pushes: readonly ExpoPush[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { token, messageId } of pushes) {
    const key = `${token} ${messageId}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return new Map([...counts].flatMap(([key, count]) => (count > 1 ? [[key, count - 1]] : [])));
}
