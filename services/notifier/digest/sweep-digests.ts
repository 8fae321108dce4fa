import { clockStepMs } from '@tocsin/shared/domain/escalation/escalation-state.ts';
import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import { StaleVersion } from '@tocsin/shared/ports/documents.ts';
import { digests, type Digest } from '@tocsin/shared/collections/push/digests.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { sendDigest } from './send-digest.ts';

/** Digests per query. */
const pageSize = 200;
/** Pages per sweep. */
const pagesMax = 50;
/** Digests that are sent concurrently. */
const concurrency = 10;

/**
 * Sends all digests that are due. Any number of notifiers may sweep: the version of each digest decides which of them
 * sends it. Costs two queries of an index if nothing is due. Throws `unavailable`.
 */
export async function sweepDigests(deps: PushDeps): Promise<void> {
  const { documents } = deps.engine;
  for (let pages = 0; pages < pagesMax; pages++) {
    const now = deps.clock();
    const [due, ahead] = await Promise.all([
      documents.find(digests, { index: 'byDue', equals: {}, from: 0, to: now, limit: pageSize }),
      // Decided before the clock was set back.
      documents.find(digests, { index: 'byDecision', equals: {}, from: now + clockStepMs + 1, limit: pageSize }),
    ]);
    const found = [...new Map([...due, ...ahead].map((one) => [one.id, one])).values()];
    for (let at = 0; at < found.length; at += concurrency) {
      if (deps.closing.aborted) return;
      await Promise.all(found.slice(at, at + concurrency).map((digest) => send(deps, digest)));
    }
    if (Math.max(due.length, ahead.length) < pageSize) return;
  }
}

/** A digest that fails is due again when the lease ends, so that it delays no others. */
async function send(deps: PushDeps, digest: Digest): Promise<void> {
  try {
    await sendDigest(deps, digest);
  } catch (error) {
    if (error instanceof StaleVersion) return;
    if (isUnavailable(error)) throw error;
    deps.log.error({ err: error, digestId: digest.id }, 'a digest failed, retrying in a minute');
  }
}
