import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http2';
import { cert, deleteApp, initializeApp, type ServiceAccount } from 'firebase-admin/app';
import { getMessaging, type FirebaseMessagingError, type Messaging, type TokenMessage } from 'firebase-admin/messaging';
import { z } from 'zod';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { FcmServiceAccount } from '@tocsin/shared/platform/load-config.ts';
import { fcmAccessTokens, type FcmAccessTokens } from './fcm-access-tokens.ts';
import { fcmSessions, type FcmSessions } from './fcm-sessions.ts';
import { fcmSimulatorCredential } from './fcm-simulator-credential.ts';
import type { PushGateway, PushLevel, PushRequest, PushResult } from './push-gateway.ts';
import { foreignResponse, isTemporaryError, temporaryError } from './temporary-error.ts';
import { answerTimeoutMsDefault, madeOnce, sendEach } from './send-each.ts';
import { readRetryAfter } from './watched-agent.ts';

export interface FcmGatewayOptions {
  readonly serviceAccount: FcmServiceAccount;
  /** URL of a simulator with FCM's HTTP v1 API over HTTP/2. Default: Google's service. */
  readonly url?: string | undefined;
  readonly clock: Clock;
  readonly answerTimeoutMs?: number;
}

const fcmUrl = 'https://fcm.googleapis.com';
/** The part of the 4,096 bytes of a message that remains after its display fields. */
const payloadBytesMax = 3_584;
/** The maximum storage time of FCM: four weeks. */
const ttlMsMax = 28 * 86_400_000;
/** https://firebase.google.com/docs/cloud-messaging/throttling-and-quotas: a quota is refilled within a minute. */
const quotaMs = 60_000;
/** Of a subscriber without vibration. */
const stillChannel = 'no-vibration';
/** The app creates these channels; for a missing one, FCM's library uses the app's default channel. */
const channels: Readonly<Record<PushLevel, string>> = {
  low: 'tocsin-low',
  default: 'tocsin-default',
  high: 'tocsin-high',
  urgent: 'tocsin-urgent',
  critical: 'tocsin-urgent',
};

/**
 * Pushes through Firebase Cloud Messaging. The library opens a connection per batch and retries on its own, independent
 * of our queue's plan. This gateway keeps one connection open and sends each push once.
 */
export function openFcmGateway(options: FcmGatewayOptions): PushGateway {
  const { serviceAccount, clock, answerTimeoutMs = answerTimeoutMsDefault } = options;
  const app = initializeApp(
    {
      credential:
        options.url === undefined
          ? cert(serviceAccount as ServiceAccount)
          : fcmSimulatorCredential(serviceAccount, clock),
      projectId: serviceAccount.project_id,
    },
    randomUUID(),
  );
  const messaging = getMessaging(app);
  const sessions = fcmSessions(options.url ?? fcmUrl, answerTimeoutMs);
  const requests = fcmRequests(messaging, sessions, fcmAccessTokens(app, clock));

  const sendOne = async (push: PushRequest, post: PostTo): Promise<PushResult> => {
    try {
      await post(push);
      return { kind: 'accepted' };
    } catch (error) {
      return isInvalidArgument(error)
        ? checkToken(requests, push, error)
        : fromFailure(error as FirebaseMessagingError);
    }
  };

  return {
    batchSizeMax: 100,
    payloadBytesMax,
    send: (batch) => {
      const postOf = madeOnce((push) => requests.toMany(toMessage(push, clock())));
      return sendEach({ provider: 'FCM', answerTimeoutMs, sendOne: (push) => sendOne(push, postOf(push)) }, batch);
    },
    async close() {
      sessions.close();
      await deleteApp(app);
    },
  };
}

/** Internals of the library: how it sends. */
interface RequestHandler {
  readonly http2Client: Http2Client;
  invokeRequestHandler(host: string, path: string, body: object): Promise<{ name: string }>;
  invokeHttp2RequestHandlerForSendResponse(
    host: string,
    path: string,
    body: object,
    handler: null,
  ): Promise<SendResponse>;
  buildSendResponse(answer: object): SendResponse;
}
interface Http2Client {
  send(request: ComposedRequest): Promise<object>;
  createRequestResponse(answer: { status: number; headers: IncomingHttpHeaders; data: string }): object;
}
interface ComposedRequest {
  readonly url: string;
  readonly headers: OutgoingHttpHeaders;
  readonly data: object;
}
type SendResponse = { success: true; messageId: string } | { success: false; error: Error };

/** A rejection by FCM. */
class Refusal extends Error {
  /** The code of the library. */
  readonly code: string;
  readonly status: number;
  readonly afterMs: number | null;
  /** FCM's code, or Google's general code; null if the response is not from Google. */
  readonly said: string | null;
  constructor(
    { code, message }: FirebaseMessagingError,
    { status, headers, said }: { status: number; headers: IncomingHttpHeaders; said: string | null },
  ) {
    super(message);
    this.code = code.replace(/^.*\//, '');
    this.status = status;
    this.afterMs = readRetryAfter(headers['retry-after']);
    this.said = said;
  }
}

const answerSchema = z.object({
  error: z.object({
    status: z.string(),
    details: z.array(z.object({ '@type': z.string(), errorCode: z.string().optional() })).optional(),
  }),
});

/** https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode */
function codeOf(text: string): string | null {
  try {
    const {
      error: { status, details = [] },
    } = answerSchema.parse(JSON.parse(text));
    return details.find((detail) => detail['@type'].endsWith('.FcmError'))?.errorCode ?? status;
  } catch {
    return null;
  }
}

const isInvalidArgument = (error: unknown): error is Refusal =>
  error instanceof Refusal && error.said === 'INVALID_ARGUMENT';

/** Requests built by the library. Each rejects with `Refusal`, or with the library's error if there is no response. */
interface FcmRequests {
  /** Resolves if FCM would accept the message. */
  check(message: TokenMessage): Promise<void>;
  /**
   * Returns a function that posts the message to a token. The library builds the request once; only the token and the
   * number of unread messages differ.
   */
  toMany(message: Omit<TokenMessage, 'token'>): PostTo;
}

type PostTo = (push: Pick<PushRequest, 'pushToken' | 'badge'>) => Promise<void>;

/**
 * Uses the library to build requests and interpret responses, but sends them over the session: the library would
 * reconnect for each batch, retry on its own, and validate and copy the whole message for each token.
 */
function fcmRequests(messaging: Messaging, sessions: FcmSessions, tokens: FcmAccessTokens): FcmRequests {
  const handler = (messaging as unknown as { messagingRequestHandler: RequestHandler }).messagingRequestHandler;
  const { http2Client } = handler;
  // A validated message is returned with a name, like a sent one.
  http2Client.send = async (request) => ({ status: 200, data: { name: JSON.stringify(request) } });
  handler.invokeRequestHandler = async (host, path, body) => {
    const response = await handler.invokeHttp2RequestHandlerForSendResponse(host, path, body, null);
    if (!response.success) throw response.error;
    return { name: response.messageId };
  };
  const compose = async (message: TokenMessage, isOnlyChecked?: boolean) => {
    const { url, headers, data } = JSON.parse(await messaging.send(message, isOnlyChecked)) as ComposedRequest;
    return {
      path: new URL(url).pathname,
      headers: { ...headers, 'content-type': 'application/json;charset=utf-8' },
      text: JSON.stringify(data),
    };
  };
  const post = async (path: string, headers: OutgoingHttpHeaders, body: string): Promise<void> => {
    const accessToken = await tokens.get();
    const {
      status,
      headers: answered,
      text,
    } = await sessions.post(path, { ...headers, authorization: `Bearer ${accessToken}` }, body);
    if (status === 200) return;
    // The other 401 refers to the project's key for Apple or the web.
    if (status === 401 && !text.includes('THIRD_PARTY_AUTH_ERROR')) tokens.refuse(accessToken);
    const response = handler.buildSendResponse(
      http2Client.createRequestResponse({ status, headers: answered, data: text }),
    );
    if (!response.success)
      throw new Refusal(response.error as FirebaseMessagingError, { status, headers: answered, said: codeOf(text) });
  };
  return {
    async check(message) {
      const { path, headers, text } = await compose(message, true);
      await post(path, headers, text);
    },
    toMany(message) {
      const tokenPlaceholder = JSON.stringify(randomUUID());
      const composed = compose({ ...message, token: JSON.parse(tokenPlaceholder) as string }).then(
        ({ text, ...request }) => ({
          ...request,
          parts: text.split(RegExp(`(${tokenPlaceholder}|${countPlaceholder})`)),
        }),
      );
      return async ({ pushToken, badge }) => {
        const { path, headers, parts } = await composed;
        const filled = parts.map((part) =>
          part === tokenPlaceholder
            ? JSON.stringify(pushToken)
            : part === countPlaceholder
              ? `"notification_count":${badge}`
              : part,
        );
        await post(path, headers, filled.join(''));
      };
    },
  };
}

/** The sequence cannot occur within a text, whose quotes are escaped. */
const countPlaceholder = '"notification_count":0';

/**
 * FCM keeps only four collapse keys for an offline device, so none is set: the tag merges duplicate pushes into one
 * notification.
 */
function toMessage(push: PushRequest, now: number): Omit<TokenMessage, 'token'> {
  const { title, body, data, category } = push.content;
  return {
    notification: { title, body },
    data: toTexts({ ...data, ...(category === null ? {} : { category }) }),
    android: {
      priority: push.level === 'low' ? 'normal' : 'high',
      ttl: Math.min(Math.max(push.expiresAt - now, 0), ttlMsMax),
      notification: {
        tag: push.collapseId,
        ...(push.sound === null ? {} : { sound: push.sound }),
        ...(push.badge === null ? {} : { notificationCount: 0 }),
        channelId: push.vibrates || push.level === 'low' ? channels[push.level] : stillChannel,
      },
    },
  };
}

/** Values of `data` are strings: lists as JSON, null as an empty string. */
function toTexts(data: object): Record<string, string> {
  const toText = (value: unknown): string =>
    typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, toText(value)]));
}

/** Validates a plain message to find out whether the token or the push is invalid. */
async function checkToken(requests: FcmRequests, { pushToken }: PushRequest, refusal: Refusal): Promise<PushResult> {
  try {
    await requests.check({ token: pushToken, notification: { title: 'Tocsin' } });
  } catch (error) {
    if (isInvalidArgument(error)) return { kind: 'dead-token', reason: 'not an FCM registration token' };
    return fromFailure(error as FirebaseMessagingError);
  }
  return { kind: 'rejected', reason: `invalid-argument: ${refusal.message}`.slice(0, 200) };
}

const remedy = 'check FCM_SERVICE_ACCOUNT_FILE';
const otherProject = 'check FCM_SERVICE_ACCOUNT_FILE: the app’s devices are registered with another Firebase project';
/** RFC 6749 §5.2: Google refuses to issue an access token for the service account. */
const tokenRefusal =
  /\b(invalid_grant|invalid_client|invalid_scope|invalid_request|unauthorized_client|access_denied)\b/;

function fromFailure(error: FirebaseMessagingError | Refusal): PushResult {
  if (error instanceof Refusal) return fromRefusal(error);
  if (error.code?.endsWith('/invalid-credential')) return withoutAccessToken(error);
  return { kind: 'unknown', reason: `no response from FCM: ${error.message}`.slice(0, 200) };
}

function fromRefusal({ status, said, code, afterMs }: Refusal): PushResult {
  if (isTemporaryError(status)) return temporaryError(status, code, afterMs ?? (status === 429 ? quotaMs : null));
  switch (said) {
    case null:
      return foreignResponse('FCM', status, afterMs);
    case 'UNREGISTERED':
      return { kind: 'dead-token', reason: code };
    // The token belongs to another project. It must not count as dead, because a wrong file would deactivate every
    // device.
    case 'SENDER_ID_MISMATCH':
      return { kind: 'retry', reason: code, remedy: otherProject, isOfToken: true };
    // The project's key for Apple or the web, which a device token may belong to.
    case 'THIRD_PARTY_AUTH_ERROR':
      return { kind: 'retry', reason: code, remedy, isOfToken: true };
    // The library reports an unregistered token, but FCM has its own code for that.
    case 'NOT_FOUND':
      return { kind: 'retry', reason: 'project-not-found', remedy };
    case 'PERMISSION_DENIED':
      return { kind: 'retry', reason: 'permission-denied', remedy };
    default:
      return status === 401 || status === 403
        ? { kind: 'retry', reason: code, remedy }
        : { kind: 'rejected', reason: `${status} ${code}`.slice(0, 200) };
  }
}

/** The library uses this code for every failure to get an access token. */
function withoutAccessToken({ message }: Error): PushResult {
  const [refusal] = tokenRefusal.exec(message) ?? [];
  if (refusal !== undefined)
    return { kind: 'retry', reason: `no access token: ${refusal}`, remedy: `${remedy} and the clock` };
  return { kind: 'retry', reason: `no access token: ${message}`.slice(0, 200), isTrouble: true };
}
