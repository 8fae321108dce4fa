import Expo, { type ExpoPushMessage, type ExpoPushReceipt, type ExpoPushTicket } from 'expo-server-sdk';
import { Agent } from 'undici';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { noAnswer, watchedAgent, type Answer } from './watched-agent.ts';
import type { PushGateway, PushRequest, PushResult, Receipts } from './push-gateway.ts';
import { inOtherWords, isPutOff, putOff } from './put-off.ts';

export interface ExpoGatewayOptions {
  /** Where Expo's push API is, without its path; Expo's own when not given. */
  readonly url?: string | undefined;
  readonly accessToken?: string | undefined;
  readonly clock: Clock;
  /** How long one request may take. */
  readonly requestTimeoutMs?: number;
  /** How long a whole batch may take with the requests that it is split into; no request begins after it. */
  readonly batchTimeoutMs?: number;
}

/** https://docs.expo.dev/push-notifications/faq/: beyond it Expo refuses a project's requests. */
const pushesPerSecond = 600;
/** Of the 4,096 bytes, what is left beside the fields that Expo adds on the way to Apple and Google. */
const payloadBytesMax = 3_584;
/** FCM takes no longer time to live than four weeks. */
const ttlSecondsMax = 28 * 86_400;
/** A channel that an app does not have shows nothing at all, so only a wish other than the default names one. */
const stillChannel = 'no-vibration';

/**
 * Pushes through Expo's relay. Its answer is a ticket, which says that Expo has the push, not that a phone has.
 * Requests of one process stay under Expo's rate, and pause together when Expo says so.
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
    const pausedMs = await pace.take(batch.length);
    if (pausedMs > 0) return all(batch, { kind: 'retry', reason: 'Expo asked to wait', afterMs: pausedMs });
    if (clock() > deadline) return all(batch, { kind: 'retry', reason: 'no time left in this batch' });
    const outcome = await ask(async (expo) =>
      (await expo.sendPushNotificationsAsync(batch.map((push) => toExpoMessage(push, clock())))).map(fromTicket),
    );
    if ('value' in outcome) return outcome.value;
    const { answer, error } = outcome;
    if (isBadRequest(answer.status) && isInItsWords(error) && batch.length > 1) {
      // One message, or a token of another Expo project, fails a whole request: halves find which.
      const half = Math.ceil(batch.length / 2);
      return [...(await sendUntil(deadline, batch.slice(0, half))), ...(await sendUntil(deadline, batch.slice(half)))];
    }
    const result = fromFailure(answer, error);
    if (answer.status === 429) pace.pause(answer.retryAfterMs ?? 1_000);
    return all(batch, result);
  };

  return {
    batchSizeMax: Expo.pushNotificationChunkSizeLimit,
    payloadBytesMax,
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

/** Spreads pushes evenly under the rate, and holds all of them back while the provider wants a pause. */
class Pace {
  readonly #clock: Clock;
  #nextAt = 0;
  #pausedUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock() + ms);
  }

  /** Waits for the turn of so many pushes; resolves with how long the pause still lasts, 0 for go. */
  async take(pushes: number): Promise<number> {
    const now = this.#clock();
    if (this.#pausedUntil > now) return this.#pausedUntil - now;
    const turnAt = Math.max(this.#nextAt, now);
    this.#nextAt = turnAt + (pushes * 1_000) / pushesPerSecond;
    if (turnAt > now) await new Promise((resolve) => setTimeout(resolve, turnAt - now));
    return Math.max(0, this.#pausedUntil - this.#clock());
  }
}

function toExpoMessage(push: PushRequest, now: number): ExpoPushMessage {
  return {
    to: push.pushToken,
    title: push.content.title,
    body: push.content.body,
    data: { ...push.content.data },
    sound: push.sound,
    priority: push.isUrgent ? 'high' : 'normal',
    ttl: Math.min(Math.max(Math.floor((push.expiresAt - now) / 1_000), 0), ttlSecondsMax),
    collapseId: push.collapseId,
    tag: push.collapseId,
    ...(push.vibrates ? {} : { channelId: stillChannel }),
  };
}

function fromTicket(ticket: ExpoPushTicket): PushResult {
  return ticket.status === 'ok' ? { kind: 'accepted', ticket: ticket.id } : fromError(ticket);
}

function fromReceipt(receipt: ExpoPushReceipt): PushResult {
  return receipt.status === 'ok' ? { kind: 'accepted' } : fromError(receipt);
}

/** Asking again does no harm, so an answer that was lost is one to ask for again. */
function noReceipts(failure: PushResult): Receipts {
  return failure.kind === 'retry'
    ? failure
    : { kind: 'retry', reason: 'reason' in failure ? failure.reason : failure.kind };
}

/** The errors that Expo documents for tickets and receipts, and one we do not know, which no second try is spent on. */
function fromError({ details, message }: { details?: { error?: string }; message: string }): PushResult {
  const error = details?.error ?? 'error';
  switch (error) {
    case 'DeviceNotRegistered':
      return { kind: 'dead-token', reason: error };
    case 'MessageRateExceeded': // of this one device
    case 'ExpoError':
    case 'ProviderError':
      return { kind: 'retry', reason: error };
    case 'InvalidCredentials': // the operator's to repair, and then the push goes out
    case 'MismatchSenderId':
      return { kind: 'retry', reason: error, remedy: 'check the push credentials of the app at Expo', isOfToken: true };
    default:
      return { kind: 'rejected', reason: `${error}: ${message}`.slice(0, 200) };
  }
}

function fromFailure(answer: Answer, error: unknown): PushResult {
  const { status, retryAfterMs } = answer;
  const reason = `Expo answered ${status}`;
  if (status === null) return { kind: 'unknown', reason: `no answer from Expo: ${rootMessage(error)}` };
  if (status === 200) return { kind: 'unknown', reason: 'Expo’s answer could not be read' };
  if (isPutOff(status)) return putOff(status, reason, retryAfterMs);
  if (!isInItsWords(error)) return inOtherWords('Expo', status, retryAfterMs);
  if (status === 401) return { kind: 'retry', reason, remedy: 'check EXPO_ACCESS_TOKEN' };
  // The access token is known, but the project of the phones' tokens wants another.
  if (status === 403) return { kind: 'retry', reason, remedy: 'check EXPO_ACCESS_TOKEN', isOfToken: true };
  return { kind: 'rejected', reason: `${reason}: ${rootMessage(error)}`.slice(0, 200) };
}

/** Whether the SDK found errors of Expo in the answer; else it has the answer's text, or failed to read it. */
function isInItsWords(error: unknown): boolean {
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
