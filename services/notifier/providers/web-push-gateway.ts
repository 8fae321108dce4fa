import { createHash } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { Agent, request, type Dispatcher } from 'undici';
import webPush from 'web-push';
import type { VapidKeys } from '@tocsin/shared/domain/push/vapid-keys.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { readWebPushSubscription, type WebPushSubscription } from '@tocsin/shared/wire/web-push-subscription.ts';
import type { PushGateway, PushLevel, PushRequest, PushResult } from './push-gateway.ts';
import { PushServiceHealth } from './push-service-health.ts';
import { madeOnce, sendEach } from './send-each.ts';
import { isTemporaryError, temporaryError } from './temporary-error.ts';
import { readRetryAfter } from './watched-agent.ts';
import { webPushLimits } from './web-push-limits.ts';

/** The keys of the installation, and the `mailto:` or `https:` address of its operator for push services. */
type Vapid = { readonly [K in keyof VapidKeys]: string } & { readonly subject: string };

export interface WebPushGatewayOptions {
  readonly vapid: Vapid;
  /** Hosts of push services; nothing is sent to others. */
  readonly hosts: readonly string[];
  /** PEM certificate of an authority that is trusted besides the public ones. */
  readonly ca?: string | undefined;
  readonly clock: Clock;
  readonly requestTimeoutMs?: number;
}

/** Beyond four weeks FCM rejects a push. */
const ttlSecondsMax = 28 * 86_400;
/** How long a signature is used. It expires after 12 hours, and push services allow 24. */
const signatureMs = 6 * 3_600_000;
/** Origins whose signature is kept. */
const signaturesMax = 256;
/** The status says everything; a longer response ends the connection. */
const answerBytesMax = 16_384;
/** Connections per push service. */
const connectionsMax = 50;
/** https://www.rfc-editor.org/rfc/rfc8030#section-5.4: the topic has at most 32 characters of base64url. */
const topicCharacters = 32;

/**
 * Pushes to browsers through the push services that they chose. The library encrypts (RFC 8291) and signs (RFC 8292),
 * undici sends. Redirects are not followed.
 */
export function openWebPushGateway(options: WebPushGatewayOptions): PushGateway {
  const { clock, hosts, requestTimeoutMs = 7_000 } = options;
  const agent = new Agent({
    connect: {
      timeout: Math.min(requestTimeoutMs, 5_000),
      ...(options.ca === undefined ? {} : { ca: [...rootCertificates, options.ca] }),
    },
    connections: connectionsMax,
    headersTimeout: requestTimeoutMs,
    bodyTimeout: requestTimeoutMs,
  });
  const health = new PushServiceHealth(
    hosts.filter((host) => !host.startsWith('*.')),
    clock,
  );
  const signatureFor = signatures(options.vapid, clock);
  const post = async (subscription: WebPushSubscription, form: PushForm): Promise<Dispatcher.ResponseData> => {
    // Without VAPID details, because the library would sign each push.
    const { headers, body } = webPush.generateRequestDetails(subscription, form.payload, {
      TTL: Math.min(Math.max(Math.floor((form.expiresAt - clock()) / 1_000), 0), ttlSecondsMax),
      urgency: form.urgency,
      topic: form.topic,
    });
    return request(subscription.endpoint, {
      dispatcher: agent,
      method: 'POST',
      headers: { ...toText(headers), authorization: signatureFor(new URL(subscription.endpoint).origin) },
      body,
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
  };

  const sendTo = async (subscription: WebPushSubscription, form: PushForm): Promise<PushResult> => {
    const { host } = new URL(subscription.endpoint);
    const pausedMs = health.pausedMs(host);
    if (pausedMs > 0) return { kind: 'retry', reason: `${host} is unavailable`, afterMs: pausedMs };
    const failed = (reason: string, afterMs: number | null): PushResult => {
      health.fail(host);
      return {
        kind: 'retry',
        reason,
        ...(afterMs === null ? {} : { afterMs }),
        ...(health.isOutage(host) ? { isTrouble: true } : {}),
      };
    };
    let response: Dispatcher.ResponseData;
    try {
      response = await post(subscription, form);
    } catch (error) {
      return failed(`no response from ${host}: ${messageOf(error)}`, null);
    }
    // The push was accepted or not, whatever happens to the rest of the response.
    await response.body.dump({ limit: answerBytesMax }).catch(() => undefined);
    if (response.statusCode >= 500)
      return failed(`${host} returned ${response.statusCode}`, readRetryAfter(response.headers['retry-after']));
    health.succeed(host);
    return fromStatus(host, response);
  };

  return {
    ...webPushLimits,
    send(batch) {
      const formOf = madeOnce(toForm);
      const sendOne = async (push: PushRequest): Promise<PushResult> => {
        const read = readWebPushSubscription(push.pushToken, hosts);
        return 'fault' in read
          ? { kind: 'dead-token', reason: `the browser subscription is invalid: ${read.fault}` }
          : sendTo(read.subscription, formOf(push));
      };
      return sendEach({ provider: 'the push service', sendOne }, batch);
    },
    close: () => agent.destroy(),
  };
}

/** The part of a request that does not depend on the browser. */
interface PushForm {
  readonly payload: Buffer;
  readonly urgency: 'low' | 'normal' | 'high';
  readonly topic: string;
  readonly expiresAt: number;
}

/** https://www.rfc-editor.org/rfc/rfc8030#section-5.3: a low one may wait until the device is charged. */
const urgencies: Readonly<Record<PushLevel, PushForm['urgency']>> = {
  low: 'low',
  default: 'normal',
  high: 'high',
  urgent: 'high',
  critical: 'high',
};

function toForm({ content, level, collapseId, sound, vibrates, expiresAt }: PushRequest): PushForm {
  return {
    payload: Buffer.from(JSON.stringify({ ...content, tag: collapseId, silent: sound === null, vibrates })),
    urgency: urgencies[level],
    // A push service keeps the latest push of a topic for a browser that is offline.
    topic: createHash('sha256').update(collapseId).digest('base64url').slice(0, topicCharacters),
    expiresAt,
  };
}

/** Returns the `Authorization` header for an origin. A signature costs more than the rest of a push. */
function signatures({ subject, publicKey, privateKey }: Vapid, clock: Clock): (origin: string) => string {
  const made = new Map<string, { readonly header: string; readonly madeAt: number }>();
  return (origin) => {
    const now = clock();
    const known = made.get(origin);
    if (known !== undefined && now - known.madeAt < signatureMs) return known.header;
    const { Authorization: header } = webPush.getVapidHeaders(origin, subject, publicKey, privateKey, 'aes128gcm');
    if (made.size >= signaturesMax) made.delete(made.keys().next().value!);
    made.set(origin, { header, madeAt: now });
    return header;
  };
}

/** The statuses below 500: https://www.rfc-editor.org/rfc/rfc8030#section-5 and what push services document. */
function fromStatus(host: string, { statusCode: status, headers }: Dispatcher.ResponseData): PushResult {
  const reason = `${host} returned ${status}`;
  if (status >= 200 && status < 300) return { kind: 'accepted' };
  if (status === 404 || status === 410) return { kind: 'dead-token', reason: `the browser unsubscribed (${status})` };
  if (isTemporaryError(status)) return temporaryError(status, reason, readRetryAfter(headers['retry-after']));
  // A browser that subscribed with the key of another installation causes the same.
  if (status === 401 || status === 403)
    return {
      kind: 'retry',
      reason: `the push service returned ${status}`,
      remedy: 'check VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY, VAPID_SUBJECT and the clock',
      isOfToken: true,
    };
  return { kind: 'rejected', reason: status === 413 ? `${reason}: the push is too large` : reason };
}

function toText(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
