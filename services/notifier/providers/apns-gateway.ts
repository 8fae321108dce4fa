import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import apn, { type MultiProvider } from '@parse/node-apn';
import { z } from 'zod';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { settledWithin } from '@tocsin/shared/async/settled-within.ts';
import { apnsProviderToken, type ApnsKey } from './apns-provider-token.ts';
import { http2Posts, type Http2Posts, type PostAnswer, type PostSession } from './http2-posts.ts';
import type { PushGateway, PushRequest, PushResult } from './push-gateway.ts';
import { inOtherWords, isPutOff, putOff } from './put-off.ts';
import { madeOnce, sendEach } from './send-each.ts';
import { readRetryAfter } from './watched-agent.ts';

export interface ApnsGatewayOptions extends ApnsKey {
  /** The app that the pushes are for. */
  readonly bundleId: string;
  /** Apple's production service when not given. */
  readonly url?: string | undefined;
  /** PEM of the authority that signed the service's certificate, where it is not Apple's. */
  readonly ca?: string | undefined;
  readonly clock: Clock;
  readonly requestTimeoutMs?: number;
}

/** Apple takes 4,096 bytes; what the `aps` dictionary adds to the content stays under 256. */
const payloadBytesMax = 4_096 - 256;
/** Apple keeps a push for no longer. */
const storedSecondsMax = 30 * 86_400;
/** How long what is under way may take once the gateway closes. */
const closeMsMax = 2_000;
/** A device token in hexadecimal digits; Apple says that its length may change. */
const tokenForm = /^[0-9a-f]{8,200}$/i;

/**
 * Pushes through Apple's service, over two HTTP/2 connections. Every answer is about one device. The library makes notifications
 * and keeps the connections; its own retries are off, as they know nothing of `Retry-After`.
 */
export function openApnsGateway(options: ApnsGatewayOptions): PushGateway {
  const { clock } = options;
  const { hostname, port } = new URL(options.url ?? 'https://api.push.apple.com');
  const provider = new apn.MultiProvider({
    clientCount: 2,
    token: { key: Buffer.from(options.key), keyId: options.keyId, teamId: options.teamId },
    production: true,
    address: hostname,
    port: port === '' ? 443 : Number(port),
    ...(options.ca === undefined ? {} : { ca: [options.ca] }),
    connectionRetryLimit: 0,
    // Node ends a session whose streams hold more than 10 MB in all; a few thousand pushes under way do.
    maxSessionMemory: 64,
  } as ConstructorParameters<typeof MultiProvider>[0]);
  const { client } = provider as unknown as { client: ApnClients };
  /** The library connects anew. */
  const drop = (session: PostSession): void => {
    for (const one of client.clients) if (one.session === session) one.session = undefined;
  };
  const posts = http2Posts(options.requestTimeoutMs ?? 7_000, drop);
  const currentToken = apnsProviderToken(options, clock);
  const tokens = new WeakMap<PostSession, string>();
  const tokenOf = (session: PostSession): string => {
    const token = tokens.get(session) ?? currentToken();
    tokens.set(session, token);
    return token;
  };
  for (const one of client.clients) sendBy(one, posts, tokenOf);
  /** Apple refuses a connection whose token changes within 20 minutes, and one can be as young as that: each has one token for its life. */
  const leaveFormerToken = (): void => {
    for (const { session } of client.clients) {
      if (session === undefined || tokenOf(session) === currentToken()) continue;
      drop(session);
      posts.leave(session);
    }
  };

  const sendOne = async (pushToken: string, notification: BuiltNotification): Promise<PushResult> => {
    if (!tokenForm.test(pushToken)) return { kind: 'dead-token', reason: 'not an APNs device token' };
    try {
      await client.write(notification, pushToken, 'device', 'post');
      return { kind: 'accepted' };
    } catch (failure) {
      return fromFailure(failure as Failure);
    }
  };

  return {
    // As much as a crash leaves in doubt; several batches are under way at once.
    batchSizeMax: 100,
    payloadBytesMax,
    send: (batch) => {
      leaveFormerToken();
      const notificationOf = madeOnce((push) => build(toNotification(push, options.bundleId, clock())));
      return sendEach({ provider: 'APNs', sendOne: (push) => sendOne(push.pushToken, notificationOf(push)) }, batch);
    },
    // The library waits for ever for a session that was never connected.
    async close() {
      posts.close();
      await settledWithin(
        closeMsMax,
        client.clients.map((one) => one.shutdown()),
      );
      for (const { session } of client.clients) session?.destroy();
    },
  };
}

/** What the library sends to every device. */
interface BuiltNotification {
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/** As its `send` does for each device anew. */
function build(notification: apn.Notification): BuiltNotification {
  const { headers, compile } = notification as unknown as { headers(): OutgoingHttpHeaders; compile(): string };
  return { headers: headers.call(notification), body: compile.call(notification) };
}

/** What is reached into: how the library hands each push to one of its connections. */
interface ApnClients {
  readonly clients: readonly ApnClient[];
  /** Rejects with what `request` rejected with. */
  write(notification: BuiltNotification, deviceToken: string, type: 'device', method: 'post'): Promise<unknown>;
}
interface ApnClient {
  session?: ClientHttp2Session | undefined;
  request(session: ClientHttp2Session, address: string, notification: BuiltNotification, path: string): Promise<object>;
  closeAndDestroySession(session: ClientHttp2Session | undefined): Promise<void>;
  shutdown(): Promise<void>;
}

/** What Apple says of a push that it does not take. */
interface Refusal {
  readonly reason: string;
  readonly timestamp?: number;
}

/**
 * Why a push was not taken: what was answered, with null for other words than Apple's, or that the answer was lost. Without a `status`
 * of its own, by which the library would try again, and lose what was answered where the session takes no more requests.
 */
type Failure =
  | { readonly answer: { readonly status: number; readonly refusal: Refusal | null; readonly afterMs: number | null } }
  | { readonly answer?: never; readonly error?: Error };

/** The library's own cuts off what is under way on a session that Apple wants no more requests on, so that it is sent twice. */
function closeSession(session: ClientHttp2Session | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (session === undefined || session.destroyed) return resolve();
    session.once('close', resolve).close();
  });
}

/**
 * The library's own request signs for itself in every client, sets a timer for each push and keeps `Retry-After` to itself. It rejects
 * with a plain object, whose fields the library copies.
 */
function sendBy(client: ApnClient, posts: Http2Posts, tokenOf: (session: PostSession) => string): void {
  client.closeAndDestroySession = closeSession;
  client.request = async (session, address, { headers, body }, path) => {
    const request = {
      ':method': 'POST',
      ':scheme': 'https',
      ':authority': address,
      ':path': path,
      ...headers,
      authorization: `bearer ${tokenOf(session)}`,
    };
    let answer: PostAnswer;
    try {
      answer = await posts.post(session, request, body);
    } catch (error) {
      throw { error: error as Error } satisfies Failure;
    }
    const { status, headers: answered, text } = answer;
    if (status === 200) return {};
    throw {
      answer: { status, refusal: readRefusal(text), afterMs: readRetryAfter(answered['retry-after']) },
    } satisfies Failure;
  };
}

const refusalSchema = z.object({ reason: z.string().min(1).max(100), timestamp: z.number().optional() });

function readRefusal(text: string): Refusal | null {
  try {
    const { reason, timestamp } = refusalSchema.parse(JSON.parse(text));
    return { reason, ...(timestamp === undefined ? {} : { timestamp }) };
  } catch {
    return null;
  }
}

function toNotification(push: PushRequest, bundleId: string, now: number): apn.Notification {
  const notification = new apn.Notification();
  notification.topic = bundleId;
  notification.pushType = 'alert';
  notification.priority = push.isUrgent ? 10 : 5;
  notification.collapseId = push.collapseId;
  notification.expiry = Math.floor(Math.min(push.expiresAt / 1_000, now / 1_000 + storedSecondsMax));
  notification.alert = { title: push.content.title, body: push.content.body };
  if (push.sound !== null) notification.sound = push.sound;
  if ('topic_id' in push.content.data) notification.threadId = push.content.data.topic_id;
  notification.payload = push.content.data;
  return notification;
}

/** Where the operator is to look when Apple refuses whoever sends, and when it refuses the app. */
const remedies = {
  sender: 'check APNS_KEY_FILE, APNS_KEY_ID, APNS_TEAM_ID and the clock',
  app: 'check APNS_BUNDLE_ID',
} as const;
const appFaults: ReadonlySet<string> = new Set(['MissingTopic', 'BadTopic', 'TopicDisallowed']);

/** https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns */
function fromFailure(failure: Failure): PushResult {
  // Many of those whose answer was lost have arrived.
  if (failure.answer === undefined)
    return {
      kind: 'unknown',
      reason: `no answer from APNs: ${failure.error?.message ?? 'no connection'}`.slice(0, 200),
    };
  const { status, refusal, afterMs } = failure.answer;
  if (isPutOff(status)) return putOff(status, refusal?.reason ?? `status ${status}`, afterMs);
  if (refusal === null) return inOtherWords('APNs', status, afterMs);
  const { reason, timestamp } = refusal;
  if (status === 410)
    return { kind: 'dead-token', reason, ...(timestamp === undefined ? { isDoubtful: true } : { since: timestamp }) };
  // Also said of a token of the sandbox that comes to production, or the other way round.
  if (reason === 'BadDeviceToken') return { kind: 'dead-token', reason, isDoubtful: true };
  // Whatever the reason, it is about who sends.
  if (status === 403) return { kind: 'retry', reason, remedy: remedies.sender };
  if (appFaults.has(reason)) return { kind: 'retry', reason, remedy: remedies.app };
  if (reason === 'DeviceTokenNotForTopic') return { kind: 'retry', reason, remedy: remedies.app, isOfToken: true };
  return { kind: 'rejected', reason: `${status} ${reason}` };
}
