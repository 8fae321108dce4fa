import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http2';
import { cert, deleteApp, initializeApp, type ServiceAccount } from 'firebase-admin/app';
import { getMessaging, type FirebaseMessagingError, type Messaging, type TokenMessage } from 'firebase-admin/messaging';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { FcmServiceAccount } from '@tocsin/shared/platform/load-config.ts';
import { fcmSessions, type FcmSessions } from './fcm-sessions.ts';
import { fcmSimulatorCredential } from './fcm-simulator-credential.ts';
import type { PushGateway, PushRequest, PushResult } from './push-gateway.ts';
import { isPutOff, putOff } from './put-off.ts';
import { answerTimeoutMsDefault, madeOnce, sendEach } from './send-each.ts';
import { readRetryAfter } from './watched-agent.ts';

export interface FcmGatewayOptions {
  readonly serviceAccount: FcmServiceAccount;
  /** A simulator that speaks FCM's HTTP v1 API over HTTP/2; Google's own service when not given. */
  readonly url?: string | undefined;
  readonly clock: Clock;
  readonly answerTimeoutMs?: number;
}

const fcmUrl = 'https://fcm.googleapis.com';
/** Of the 4,096 bytes of a message, what is left beside the fields that say how to show it. */
const payloadBytesMax = 3_584;
/** FCM keeps a message for no longer than four weeks. */
const ttlMsMax = 28 * 86_400_000;
/** https://firebase.google.com/docs/cloud-messaging/throttling-and-quotas: a quota is filled up again within a minute. */
const quotaMs = 60_000;
/** As for Expo: a channel that an app does not have shows nothing, so only a wish other than the default names one. */
const stillChannel = 'no-vibration';

/**
 * Pushes through Firebase Cloud Messaging. The library opens a connection for each batch and tries again by itself, unaware of
 * what the queue behind us plans: here one connection lives as long as it can, and each push is tried once.
 */
export function openFcmGateway(options: FcmGatewayOptions): PushGateway {
  const { serviceAccount, clock, answerTimeoutMs = answerTimeoutMsDefault } = options;
  const app = initializeApp({
    credential: options.url === undefined ? cert(serviceAccount as ServiceAccount) : fcmSimulatorCredential(serviceAccount, clock),
    projectId: serviceAccount.project_id,
  }, randomUUID());
  const messaging = getMessaging(app);
  const sessions = fcmSessions(options.url ?? fcmUrl, answerTimeoutMs);
  keepConnected(messaging, sessions);

  const sendOne = async (push: PushRequest, message: Omit<TokenMessage, 'token'>): Promise<PushResult> => {
    try {
      await messaging.send({ ...message, token: push.pushToken });
      return { kind: 'accepted' };
    } catch (error) {
      const failure = error as FirebaseMessagingError;
      return failure.code === 'messaging/invalid-argument' ? judgeToken(messaging, push, failure) : fromFailure(failure);
    }
  };

  return {
    batchSizeMax: 100,
    payloadBytesMax,
    send: (batch) => {
      const messageOf = madeOnce((push) => toMessage(push, clock()));
      return sendEach({ provider: 'FCM', answerTimeoutMs, sendOne: (push) => sendOne(push, messageOf(push)) }, batch);
    },
    async close() {
      sessions.close();
      await deleteApp(app);
    },
  };
}

/** What is reached into: how the library sends. */
interface RequestHandler {
  readonly http2Client: Http2Client;
  invokeRequestHandler(host: string, path: string, body: object): Promise<{ name: string }>;
  invokeHttp2RequestHandlerForSendResponse(host: string, path: string, body: object, handler: null): Promise<SendResponse>;
}
interface Http2Client {
  send(request: { readonly url: string; readonly headers: OutgoingHttpHeaders; readonly data: object }): Promise<object>;
  /** Of the app's credential, kept until it has to be renewed. */
  getToken(): Promise<string>;
  createRequestResponse(answer: { status: number; headers: IncomingHttpHeaders; data: string }): object;
}
type SendResponse = { success: true; messageId: string } | { success: false; error: Error };

/**
 * Has the library's requests go over the session: it makes and names everything, and its client is ours, which tries nothing again and
 * makes no copies of what is the same for all.
 */
function keepConnected(messaging: Messaging, sessions: FcmSessions): void {
  const handler = (messaging as unknown as { messagingRequestHandler: RequestHandler }).messagingRequestHandler;
  const { http2Client } = handler;
  http2Client.send = async ({ url, headers, data }) => {
    const path = url.slice(url.indexOf('/', 'https://'.length));
    const authorization = `Bearer ${await http2Client.getToken()}`;
    const { status, headers: answered, text } = await sessions.post(path, { ...headers, authorization, 'content-type': 'application/json;charset=utf-8' }, JSON.stringify(data));
    return http2Client.createRequestResponse({ status, headers: answered, data: text });
  };
  handler.invokeRequestHandler = async (host, path, body) => {
    const response = await handler.invokeHttp2RequestHandlerForSendResponse(host, path, body, null);
    if (!response.success) throw response.error;
    return { name: response.messageId };
  };
}

/**
 * FCM forgets all but four collapse keys of a phone that is away, so none is given: the tag makes what is sent twice one
 * notification. Values of `data` are strings, the tags as a JSON list.
 */
function toMessage(push: PushRequest, now: number): Omit<TokenMessage, 'token'> {
  const { title, body, data } = push.content;
  return {
    notification: { title, body },
    data: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])),
    android: {
      priority: push.isUrgent ? 'high' : 'normal',
      ttl: Math.min(Math.max(push.expiresAt - now, 0), ttlMsMax),
      notification: {
        tag: push.collapseId,
        ...(push.sound === null ? {} : { sound: push.sound }),
        ...(push.vibrates ? {} : { channelId: stillChannel }),
      },
    },
  };
}

/** An invalid argument is the token or the rest: a plain message that FCM only checks tells which. */
async function judgeToken(messaging: Messaging, { pushToken }: PushRequest, failure: FirebaseMessagingError): Promise<PushResult> {
  try {
    await messaging.send({ token: pushToken, notification: { title: 'Tocsin' } }, true);
  } catch (error) {
    const { code } = error as FirebaseMessagingError;
    if (code === 'messaging/invalid-argument') return { kind: 'dead-token', reason: 'not an FCM registration token' };
    return fromFailure(error as FirebaseMessagingError);
  }
  return { kind: 'rejected', reason: `invalid-argument: ${failure.message}`.slice(0, 200) };
}

/** The operator's to repair; the pushes go out then. */
const ourFaults: ReadonlySet<string> = new Set(['authentication-error', 'third-party-auth-error', 'permission-denied']);
const remedy = 'check FCM_SERVICE_ACCOUNT_FILE';
const otherProject = 'check FCM_SERVICE_ACCOUNT_FILE: the app’s devices are registered with another Firebase project';
/** RFC 6749 §5.2: Google refuses to give an access token for the service account. */
const tokenRefusal = /\b(invalid_grant|invalid_client|invalid_scope|invalid_request|unauthorized_client|access_denied)\b/;

/** https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode, as the library names them. */
function fromFailure(error: FirebaseMessagingError): PushResult {
  const code = /\/(.*)$/.exec(error.code ?? '')?.[1] ?? error.name;
  const { httpResponse } = error as { httpResponse?: { status: number; headers: IncomingHttpHeaders } };
  if (code === 'registration-token-not-registered') return { kind: 'dead-token', reason: code };
  if (code === 'invalid-credential') return withoutAccessToken(error);
  // The project that a token belongs to, and not the token, is another: were it called dead, a wrong file would retire every device.
  if (code === 'mismatched-credential') return { kind: 'retry', reason: code, remedy: otherProject };
  if (ourFaults.has(code)) return { kind: 'retry', reason: code, remedy };
  if (httpResponse === undefined) return { kind: 'unknown', reason: `no answer from FCM: ${error.message}`.slice(0, 200) };
  const { status, headers } = httpResponse;
  if (isPutOff(status)) return putOff(status, code, readRetryAfter(headers['retry-after']) ?? (status === 429 ? quotaMs : null));
  return { kind: 'rejected', reason: `${status} ${code}`.slice(0, 200) };
}

/** The library says so of every failure to get an access token. */
function withoutAccessToken({ message }: Error): PushResult {
  const [refusal] = tokenRefusal.exec(message) ?? [];
  if (refusal !== undefined) return { kind: 'retry', reason: `no access token: ${refusal}`, remedy: `${remedy} and the clock` };
  return { kind: 'retry', reason: `no access token: ${message}`.slice(0, 200), isTrouble: true };
}
