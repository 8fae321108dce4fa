import Expo, { type ExpoPushMessage, type ExpoPushReceipt, type ExpoPushTicket } from 'expo-server-sdk';
import { Agent } from 'undici';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { expoLimits } from './expo-limits.ts';
import { noAnswer, watchedAgent, type Answer } from './watched-agent.ts';
import type { PushGateway, PushLevel, PushRequest, PushResult, Receipts } from './push-gateway.ts';
import { foreignResponse, isTemporaryError, temporaryError } from './temporary-error.ts';

export interface ExpoGatewayOptions {
  /** Base URL of Expo's push API. Default: Expo's server. */
  readonly url?: string | undefined;
  readonly accessToken?: string | undefined;
  readonly clock: Clock;
  /** Time limit of a request. */
  readonly requestTimeoutMs?: number;
  /** Time limit of a batch with all its split requests; no request starts after it. */
  readonly batchTimeoutMs?: number;
}

/** https://docs.expo.dev/push-notifications/faq/: Expo rejects a project's requests beyond this rate. */
const pushesPerSecond = 600;
/** The maximum time to live of FCM: four weeks. */
const ttlSecondsMax = 28 * 86_400;
/** Android shows no notification for a missing channel, so only a non-default setting names one. */
const stillChannel = 'no-vibration';

/**
 * Pushes through Expo's relay. A ticket confirms that Expo accepted the push, not that a device received it.
 * Requests of one process stay below Expo's rate limit, and pause together if Expo asks for it.
 */
export function openExpoGateway(options: ExpoGatewayOptions): PushGateway {
  const { clock } = options;
  const timeoutMs = options.requestTimeoutMs ?? 5_000;
  const agent = new Agent({
    connect: { timeout: Math.min(timeoutMs, 5_000) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const pace = new Pace(clock);

  const ask = async <T>(
    call: (expo: Expo) => Promise<T>,
  ): Promise<{ value: T } | { answer: Answer; error: unknown }> => {
    const answer = noAnswer();
    const expo = new Expo({
      ...(options.accessToken === undefined ? {} : { accessToken: options.accessToken }),
      httpAgent: watchedAgent(agent, { origin: options.url, answer, timeoutMs }),
      retryMinTimeout: 0, // its retries of a 429 end at the watched agent
    });
    try {
      return { value: await call(expo) };
    } catch (error) {
      return { answer, error };
    }
  };

  const sendUntil = async (deadline: number, batch: readonly PushRequest[]): Promise<PushResult[]> => {
    const turn = await pace.take(batch.length, deadline);
    if (turn.waitMs > 0) return all(batch, { kind: 'retry', reason: turn.reason, afterMs: turn.waitMs });
    if (clock() > deadline) return all(batch, { kind: 'retry', reason: 'no time left in this batch' });
    const outcome = await ask(async (expo) =>
      (await expo.sendPushNotificationsAsync(batch.map((push) => toExpoMessage(push, clock())))).map(fromTicket),
    );
    if ('value' in outcome) return outcome.value;
    const { answer, error } = outcome;
    if (isBadRequest(answer.status) && isExpoError(error) && batch.length > 1) {
      // One message, or a token of another Expo project, fails a whole request: bisect to find it.
      const half = Math.ceil(batch.length / 2);
      return [...(await sendUntil(deadline, batch.slice(0, half))), ...(await sendUntil(deadline, batch.slice(half)))];
    }
    const result = fromFailure(answer, error);
    if (answer.status === 429) pace.pause(answer.retryAfterMs ?? 1_000);
    return all(batch, result);
  };

  return {
    ...expoLimits,
    async send(batch) {
      const valid = batch.filter((push) => Expo.isExpoPushToken(push.pushToken));
      const results = valid.length === 0 ? [] : await sendUntil(clock() + (options.batchTimeoutMs ?? 2_500), valid);
      const byRequest = new Map(valid.map((push, index) => [push, results[index]!]));
      return batch.map((push) => byRequest.get(push) ?? { kind: 'dead-token', reason: 'not an Expo push token' });
    },
    async receipts(tickets) {
      const outcome = await ask(async (expo) =>
        Object.entries(await expo.getPushNotificationReceiptsAsync([...tickets])).map(
          ([ticket, receipt]) => [ticket, fromReceipt(receipt)] as const,
        ),
      );
      if ('value' in outcome) return { kind: 'answered', results: new Map(outcome.value) };
      return noReceipts(fromFailure(outcome.answer, outcome.error));
    },
    close: () => agent.destroy(),
  };
}

/** Turns are given less far ahead, because a batch has less time. */
const aheadMsMax = 10_000;

/** Whether a batch may be sent now (0), or how long it must wait. */
interface Turn {
  readonly waitMs: number;
  readonly reason: string;
}

/** Spreads pushes evenly below the rate limit, and holds all of them back during a pause of the provider. */
class Pace {
  readonly #clock: Clock;
  #nextAt = 0;
  #pausedUntil = 0;
  #pauseMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock() + ms);
    this.#pauseMs = Math.max(this.#pauseMs, ms);
  }

  /** Waits until this many pushes may be sent, unless that is after the deadline: then others get the turn. */
  async take(pushes: number, deadline: number): Promise<Turn> {
    const now = this.#clock();
    const paused = this.#paused(now);
    if (paused.waitMs > 0) return paused;
    // A turn that is further ahead was given before the clock was set back.
    const turnAt = this.#nextAt > now + aheadMsMax ? now : Math.max(this.#nextAt, now);
    if (turnAt > deadline) return { waitMs: turnAt - now, reason: 'waiting for the rate limit of Expo' };
    this.#nextAt = turnAt + (pushes * 1_000) / pushesPerSecond;
    if (turnAt > now) await new Promise((resolve) => setTimeout(resolve, turnAt - now));
    return this.#paused(this.#clock());
  }

  #paused(now: number): Turn {
    return { waitMs: this.#pausedMs(now), reason: 'Expo asked to wait' };
  }

  /** A pause that seems longer than it was began before the clock was set back. */
  #pausedMs(now: number): number {
    const leftMs = Math.max(this.#pausedUntil - now, 0);
    if (leftMs <= this.#pauseMs) return leftMs;
    this.#pausedUntil = 0;
    this.#pauseMs = 0;
    return 0;
  }
}

const interruptionLevels: Readonly<Record<PushLevel, ExpoPushMessage['interruptionLevel'] & string>> = {
  low: 'passive',
  default: 'active',
  high: 'time-sensitive',
  urgent: 'time-sensitive',
  critical: 'critical',
};

function toExpoMessage(push: PushRequest, now: number): ExpoPushMessage {
  return {
    to: push.pushToken,
    title: push.content.title,
    body: push.content.body,
    data: { ...push.content.data },
    sound:
      push.level === 'critical' && push.sound !== null ? { critical: true, name: push.sound, volume: 1 } : push.sound,
    priority: push.level === 'low' ? 'normal' : 'high',
    interruptionLevel: interruptionLevels[push.level],
    ...(push.badge === null ? {} : { badge: push.badge }),
    ...(push.content.category === null ? {} : { categoryId: push.content.category }),
    ttl: Math.min(Math.max(Math.floor((push.expiresAt - now) / 1_000), 0), ttlSecondsMax),
    collapseId: push.collapseId,
    tag: push.collapseId,
    ...(push.vibrates || push.level === 'low' ? {} : { channelId: stillChannel }),
  };
}

function fromTicket(ticket: ExpoPushTicket): PushResult {
  return ticket.status === 'ok' ? { kind: 'accepted', ticket: ticket.id } : fromError(ticket);
}

function fromReceipt(receipt: ExpoPushReceipt): PushResult {
  return receipt.status === 'ok' ? { kind: 'accepted' } : fromError(receipt);
}

/** Fetching receipts is idempotent, so a lost response is retried. */
function noReceipts(failure: PushResult): Receipts {
  return failure.kind === 'retry'
    ? failure
    : { kind: 'retry', reason: 'reason' in failure ? failure.reason : failure.kind };
}

/** Maps Expo's documented errors of tickets and receipts. An unknown error is not retried. */
function fromError({ details, message }: { details?: { error?: string }; message: string }): PushResult {
  const error = details?.error ?? 'error';
  switch (error) {
    case 'DeviceNotRegistered':
      return { kind: 'dead-token', reason: error };
    case 'MessageRateExceeded': // limit of this device
    case 'ExpoError':
    case 'ProviderError':
      return { kind: 'retry', reason: error };
    case 'InvalidCredentials': // the operator must fix it; then the push is sent
    case 'MismatchSenderId':
      return { kind: 'retry', reason: error, remedy: 'check the push credentials of the app at Expo', isOfToken: true };
    default:
      return { kind: 'rejected', reason: `${error}: ${message}`.slice(0, 200) };
  }
}

function fromFailure(answer: Answer, error: unknown): PushResult {
  const { status, retryAfterMs } = answer;
  const reason = `Expo returned ${status}`;
  if (status === null) return { kind: 'unknown', reason: `no response from Expo: ${rootMessage(error)}` };
  if (status === 200) return { kind: 'unknown', reason: 'invalid response from Expo' };
  if (isTemporaryError(status)) return temporaryError(status, reason, retryAfterMs);
  if (!isExpoError(error)) return foreignResponse('Expo', status, retryAfterMs);
  if (status === 401) return { kind: 'retry', reason, remedy: 'check EXPO_ACCESS_TOKEN' };
  // The access token is valid, but the tokens' project requires another one.
  if (status === 403) return { kind: 'retry', reason, remedy: 'check EXPO_ACCESS_TOKEN', isOfToken: true };
  return { kind: 'rejected', reason: `${reason}: ${rootMessage(error)}`.slice(0, 200) };
}

/**
 * Whether the SDK found Expo errors in the response; otherwise the error contains the response text or a parse error.
 */
function isExpoError(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && !('errorText' in error);
}

function isBadRequest(status: number | null): boolean {
  return status === 400 || status === 413 || status === 422;
}

function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function all(batch: readonly PushRequest[], result: PushResult): PushResult[] {
  return batch.map(() => result);
}
