import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import apn, { type MultiProvider } from '@parse/node-apn';
import { z } from 'zod';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { settledWithin } from '@tocsin/shared/async/settled-within.ts';
import { apnsProviderToken, type ApnsKey } from './apns-provider-token.ts';
import { http2Posts, type Http2Posts, type PostAnswer, type PostSession } from './http2-posts.ts';
import type { PushGateway, PushLevel, PushRequest, PushResult } from './push-gateway.ts';
import { foreignResponse, isTemporaryError, temporaryError } from './temporary-error.ts';
import { madeOnce, sendEach } from './send-each.ts';
import { readRetryAfter } from './watched-agent.ts';

export interface ApnsGatewayOptions extends ApnsKey {
  /** The bundle ID of the app. */
  readonly bundleId: string;
  /** Default: Apple's production service. */
  readonly url?: string | undefined;
  /** PEM certificate of the authority of a simulator's certificate. */
  readonly ca?: string | undefined;
  readonly clock: Clock;
  readonly requestTimeoutMs?: number;
}

/** APNs accepts 4,096 bytes; the `aps` dictionary adds less than 320 to the content. */
const payloadBytesMax = 4_096 - 320;
/** The maximum storage time of APNs. */
const storedSecondsMax = 30 * 86_400;
/** The time limit for running requests when the gateway closes. */
const closeMsMax = 2_000;
/** A device token in hexadecimal digits. According to Apple, its length may change. */
const tokenForm = /^[0-9a-f]{8,200}$/i;

/**
 * Pushes through APNs over two HTTP/2 connections. Each response refers to one device. The library builds notifications
 * and manages the connections; its retries are off, because they ignore `Retry-After`.
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
    // Node ends a session whose streams use more than 10 MB, which a few thousand running pushes do.
    maxSessionMemory: 64,
  } as ConstructorParameters<typeof MultiProvider>[0]);
  const { client } = provider as unknown as { client: ApnClients };
  /** The library reconnects. */
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
  /** APNs rejects a connection whose token changes within 20 minutes, so each connection keeps one token. */
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
    // The number of pushes with unknown outcome after a crash; several batches run concurrently.
    batchSizeMax: 100,
    payloadBytesMax,
    send: (batch) => {
      leaveFormerToken();
      const notificationOf = madeOnce((push) => badgeable(build(toNotification(push, options.bundleId, clock()))));
      return sendEach(
        { provider: 'APNs', sendOne: (push) => sendOne(push.pushToken, notificationOf(push)(push.badge)) },
        batch,
      );
    },
    // The library waits forever for a session that never connected.
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

/** The request that the library sends to every device. */
interface BuiltNotification {
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/** Like the library's `send` for each device. */
function build(notification: apn.Notification): BuiltNotification {
  const { headers, compile } = notification as unknown as { headers(): OutgoingHttpHeaders; compile(): string };
  return { headers: headers.call(notification), body: compile.call(notification) };
}

/** The sequence cannot occur within a text, whose quotes are escaped. */
const apsStart = '"aps":{';

/** Returns the notification as a function of the badge. */
function badgeable({ headers, body }: BuiltNotification): (badge: number | null) => BuiltNotification {
  const at = body.indexOf(apsStart) + apsStart.length;
  const [before, after] = [`${body.slice(0, at)}"badge":`, `,${body.slice(at)}`];
  return (badge) => ({ headers, body: badge === null ? body : before + badge + after });
}

/** Internals of the library: how it assigns a push to a connection. */
interface ApnClients {
  readonly clients: readonly ApnClient[];
  /** Rejects with the rejection of `request`. */
  write(notification: BuiltNotification, deviceToken: string, type: 'device', method: 'post'): Promise<unknown>;
}
interface ApnClient {
  session?: ClientHttp2Session | undefined;
  request(session: ClientHttp2Session, address: string, notification: BuiltNotification, path: string): Promise<object>;
  closeAndDestroySession(session: ClientHttp2Session | undefined): Promise<void>;
  shutdown(): Promise<void>;
}

/** A rejection by APNs. */
interface Refusal {
  readonly reason: string;
  readonly timestamp?: number;
}

/**
 * Why a push was not accepted: the response (null if it is not from APNs), or that the response was lost. Without a
 * `status` field, which would make the library retry and lose the response if the session accepts no more requests.
 */
type Failure =
  | { readonly answer: { readonly status: number; readonly refusal: Refusal | null; readonly afterMs: number | null } }
  | { readonly answer?: never; readonly error?: Error };

/** The library's version aborts running requests on a session that APNs is closing, so that they are sent twice. */
function closeSession(session: ClientHttp2Session | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (session === undefined || session.destroyed) return resolve();
    session.once('close', resolve).close();
  });
}

/**
 * The library's version signs in every client, sets a timer per push and hides `Retry-After`. This one rejects
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

/** https://developer.apple.com/documentation/usernotifications/unnotificationinterruptionlevel */
const interruptionLevels: Readonly<Record<PushLevel, string>> = {
  low: 'passive',
  default: 'active',
  high: 'time-sensitive',
  urgent: 'time-sensitive',
  critical: 'critical',
};

function toNotification(push: PushRequest, bundleId: string, now: number): apn.Notification {
  const notification = new apn.Notification();
  notification.topic = bundleId;
  notification.pushType = 'alert';
  // 5 lets the phone wait for a good moment.
  notification.priority = push.level === 'low' ? 5 : 10;
  notification.aps['interruption-level'] = interruptionLevels[push.level];
  notification.collapseId = push.collapseId;
  notification.expiry = Math.floor(Math.min(push.expiresAt / 1_000, now / 1_000 + storedSecondsMax));
  notification.alert = { title: push.content.title, body: push.content.body };
  if (push.sound !== null)
    notification.sound = push.level === 'critical' ? { critical: 1, name: push.sound, volume: 1 } : push.sound;
  if ('topic_id' in push.content.data) notification.threadId = push.content.data.topic_id;
  if (push.content.category !== null) notification.aps.category = push.content.category;
  notification.payload = push.content.data;
  return notification;
}

/** What the operator must check if APNs rejects the sender or the app. */
const remedies = {
  sender: 'check APNS_KEY_FILE, APNS_KEY_ID, APNS_TEAM_ID and the clock',
  app: 'check APNS_BUNDLE_ID',
} as const;
const appFaults: ReadonlySet<string> = new Set(['MissingTopic', 'BadTopic', 'TopicDisallowed']);

/** https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns */
function fromFailure(failure: Failure): PushResult {
  // Many pushes with a lost response have arrived.
  if (failure.answer === undefined)
    return {
      kind: 'unknown',
      reason: `no response from APNs: ${failure.error?.message ?? 'no connection'}`.slice(0, 200),
    };
  const { status, refusal, afterMs } = failure.answer;
  if (isTemporaryError(status)) return temporaryError(status, refusal?.reason ?? `status ${status}`, afterMs);
  if (refusal === null) return foreignResponse('APNs', status, afterMs);
  const { reason, timestamp } = refusal;
  if (status === 410)
    return { kind: 'dead-token', reason, ...(timestamp === undefined ? { isDoubtful: true } : { since: timestamp }) };
  // Also returned for a sandbox token in production, or vice versa.
  if (reason === 'BadDeviceToken') return { kind: 'dead-token', reason, isDoubtful: true };
  // Every reason refers to the sender.
  if (status === 403) return { kind: 'retry', reason, remedy: remedies.sender };
  if (appFaults.has(reason)) return { kind: 'retry', reason, remedy: remedies.app };
  if (reason === 'DeviceTokenNotForTopic') return { kind: 'retry', reason, remedy: remedies.app, isOfToken: true };
  return { kind: 'rejected', reason: `${status} ${reason}` };
}
