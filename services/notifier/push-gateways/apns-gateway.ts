import { randomUUID } from 'node:crypto';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import apn, { type MultiProvider, type ResponseFailure } from '@parse/node-apn';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { settledWithin } from '@tocsin/shared/platform/settled-within.ts';
import { apnsProviderToken, type ApnsKey } from './apns-provider-token.ts';
import type { PushGateway, PushRequest, PushResult } from './push-gateway.ts';
import { isPutOff, putOff } from './put-off.ts';
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
 * Pushes through Apple's service, over two HTTP/2 connections. Every answer is about one device. The library's own
 * retries are off: they know nothing of `Retry-After`, which is read here beside it.
 */
export function openApnsGateway(options: ApnsGatewayOptions): PushGateway {
  const { clock } = options;
  const { hostname, port } = new URL(options.url ?? 'https://api.push.apple.com');
  const retryAfterMs = new Map<string, number>();
  const provider = new apn.MultiProvider({
    clientCount: 2,
    token: { key: Buffer.from(options.key), keyId: options.keyId, teamId: options.teamId },
    production: true,
    address: hostname,
    port: port === '' ? 443 : Number(port),
    ...(options.ca === undefined ? {} : { ca: [options.ca] }),
    connectionRetryLimit: 0,
    requestTimeout: options.requestTimeoutMs ?? 7_000,
    // Node ends a session whose streams hold more than 10 MB in all; a few thousand pushes under way do.
    maxSessionMemory: 64,
  } as ConstructorParameters<typeof MultiProvider>[0]);
  const { clients } = (provider as unknown as { client: { clients: ApnClient[] } }).client;
  prepareClients(clients, apnsProviderToken(options, clock), retryAfterMs);

  const sendOne = async (push: PushRequest, notification: apn.Notification): Promise<PushResult> => {
    if (!tokenForm.test(push.pushToken)) return { kind: 'dead-token', reason: 'not an APNs device token' };
    const id = randomUUID();
    // The library reads it as it is called; the payload it makes once for all devices that share the notification.
    notification.id = id;
    const { failed: [failure] } = await provider.send(notification, push.pushToken);
    if (failure === undefined) return { kind: 'accepted' };
    const afterMs = retryAfterMs.get(id);
    retryAfterMs.delete(id);
    return fromFailure(failure, afterMs);
  };

  return {
    // As much as a crash leaves in doubt; several batches are under way at once.
    batchSizeMax: 100,
    payloadBytesMax,
    send: (batch) => {
      const notificationOf = madeOnce((push) => toNotification(push, options.bundleId, clock()));
      return sendEach({ provider: 'APNs', sendOne: (push) => sendOne(push, notificationOf(push)) }, batch);
    },
    // The library waits for ever for a session that was never connected.
    async close() {
      await settledWithin(closeMsMax, clients.map((client) => client.shutdown()));
      for (const { session } of clients) session?.destroy();
    },
  };
}

/** What is reached into: the library signs by itself in every client, and keeps `Retry-After` to itself. */
interface ApnClient {
  readonly config: { token: object };
  readonly session?: ClientHttp2Session;
  request(session: Pick<ClientHttp2Session, 'request'>, ...rest: unknown[]): Promise<unknown>;
  shutdown(): Promise<void>;
}

function prepareClients(clients: readonly ApnClient[], token: () => string, retryAfterMs: Map<string, number>): void {
  for (const client of clients) {
    client.config.token = {
      generation: 0,
      get current() {
        return token();
      },
      regenerate: () => undefined,
      isExpired: () => false,
    };
    const request = client.request.bind(client);
    client.request = (session, ...rest) => request(watched(session, retryAfterMs), ...rest);
  }
}

/** The session, noting how long each push is asked to wait. */
function watched(session: Pick<ClientHttp2Session, 'request'>, retryAfterMs: Map<string, number>): Pick<ClientHttp2Session, 'request'> {
  return {
    request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
      const stream = session.request(headers);
      stream.once('response', (answer) => {
        const afterMs = readRetryAfter(answer['retry-after']);
        // Of a push that is refused: only that is asked about.
        if (afterMs !== null && answer[':status'] !== 200) retryAfterMs.set(String(headers['apns-id']), afterMs);
      });
      return stream;
    },
  };
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

/** The operator's to repair; the pushes go out then. */
const ourFaults: ReadonlySet<string> = new Set([
  'ExpiredProviderToken', 'InvalidProviderToken', 'MissingProviderToken', 'BadCertificate', 'BadCertificateEnvironment', 'Forbidden',
]);
const remedy = 'check APNS_KEY_FILE, APNS_KEY_ID, APNS_TEAM_ID and the clock';

/**
 * https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns. An entry
 * without a status is a push whose answer was lost: many of them have arrived.
 */
function fromFailure(failure: ResponseFailure, afterMs: number | undefined): PushResult {
  const { status, response, error } = failure as { status?: number | string; response?: { reason?: string; timestamp?: number }; error?: Error };
  const reason = response?.reason ?? error?.message ?? 'no answer';
  if (typeof status !== 'number') return { kind: 'unknown', reason: `no answer from APNs: ${reason}`.slice(0, 200) };
  if (status === 410) {
    return { kind: 'dead-token', reason, ...(response?.timestamp === undefined ? {} : { since: response.timestamp }) };
  }
  // Also said of a token of the sandbox that comes to production, or the other way round.
  if (reason === 'BadDeviceToken') return { kind: 'dead-token', reason, isDoubtful: true };
  if (ourFaults.has(reason)) return { kind: 'retry', reason, remedy };
  if (isPutOff(status)) return putOff(status, reason, afterMs ?? null);
  return { kind: 'rejected', reason: `${status} ${reason}`.slice(0, 200) };
}
