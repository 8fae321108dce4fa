import { setImmediate as nextTurn } from 'node:timers/promises';
import { within, type TookTooLong } from '@tocsin/shared/async/within.ts';
import { sendTimeoutMs, type PushRequest, type PushResult } from './push-gateway.ts';

/** How long an answer may take; what it leaves of a send is for the rest of it. */
export const answerTimeoutMsDefault = sendTimeoutMs - 1_000;

/** A provider that is handed one push at a time. */
export interface SingleSender {
  readonly provider: string;
  readonly sendOne: (push: PushRequest) => Promise<PushResult>;
  readonly answerTimeoutMs?: number | undefined;
}

/** Pushes that are begun without letting anything else in. Harm prevented: a publish waiting for the requests of a whole batch. */
const atOnce = 20;

/** Sends the pushes side by side. One whose result the provider's library has not told while the claim on it lasts is `unknown`. */
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
  // One timer for all of them: they begin at the same time.
  const late = await within(answerTimeoutMs, `the answer of ${provider}`, sendAll()).then(
    () => null,
    (error: TookTooLong) => unknown(error),
  );
  isLate = true;
  return Array.from(results, (result) => result ?? late!);
}

const unknown = (error: unknown): PushResult => ({ kind: 'unknown', reason: (error as Error).message });

/** Makes what pushes have in common that differ by their device alone once for all of them; for one batch. */
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
    a.isUrgent === b.isUrgent &&
    a.collapseId === b.collapseId &&
    a.expiresAt === b.expiresAt
  );
}
