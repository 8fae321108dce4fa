import { setImmediate as nextTurn } from 'node:timers/promises';
import { within, type TookTooLong } from '@tocsin/shared/async/within.ts';
import { sendTimeoutMs, type PushRequest, type PushResult } from './push-gateway.ts';

/** The time limit of a response; the rest of a send's time is for other work. */
export const answerTimeoutMsDefault = sendTimeoutMs - 1_000;

/** A provider that accepts one push per request. */
export interface SingleSender {
  readonly provider: string;
  readonly sendOne: (push: PushRequest) => Promise<PushResult>;
  readonly answerTimeoutMs?: number | undefined;
}

/** Pushes started per event-loop turn, so that a publish does not wait for the requests of a whole batch. */
const atOnce = 20;

/** Sends the pushes concurrently. A push without a result while its claim is valid is `unknown`. */
export async function sendEach(
  { provider, sendOne, answerTimeoutMs = answerTimeoutMsDefault }: SingleSender,
  batch: readonly PushRequest[],
): Promise<PushResult[]> {
  const results = new Array<PushResult | undefined>(batch.length);
  let isLate = false;
  const sendAll = async (): Promise<void> => {
    const sent: Promise<void>[] = [];
    for (const [place, push] of batch.entries()) {
      if (place % atOnce === 0 && place > 0) await nextTurn();
      if (isLate) break;
      sent.push(
        sendOne(push)
          .catch(unknown)
          .then((result) => void (results[place] = result)),
      );
    }
    await Promise.all(sent);
  };
  // One timer for all, because they start together.
  const late = await within(answerTimeoutMs, `the response of ${provider}`, sendAll()).then(
    () => null,
    (error: TookTooLong) => unknown(error),
  );
  isLate = true;
  return Array.from(results, (result) => result ?? late!);
}

const unknown = (error: unknown): PushResult => ({ kind: 'unknown', reason: (error as Error).message });

/** Caches the common part of a batch's pushes that differ only by device and badge. */
export function madeOnce<F>(make: (push: PushRequest) => F): (push: PushRequest) => F {
  const made: { readonly of: PushRequest; readonly form: F }[] = [];
  return (push) => {
    const known = made.find(({ of }) => isSame(of, push));
    if (known !== undefined) return known.form;
    const form = make(push);
    made.push({ of: push, form });
    return form;
  };
}

function isSame(a: PushRequest, b: PushRequest): boolean {
  return (
    a.content === b.content &&
    a.sound === b.sound &&
    a.vibrates === b.vibrates &&
    (a.badge === null) === (b.badge === null) &&
    a.level === b.level &&
    a.collapseId === b.collapseId &&
    a.expiresAt === b.expiresAt
  );
}
