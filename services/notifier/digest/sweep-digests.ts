import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import { StaleVersion } from '@tocsin/shared/ports/documents.ts';
import { digests, type Digest } from '@tocsin/shared/collections/push/digests.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { findDue } from '@tocsin/shared/documents/find-due.ts';
import { sendDigest } from './send-digest.ts';

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
    const { found, isLast } = await findDue(documents, digests, deps.clock());
    for (let at = 0; at < found.length; at += concurrency) {
      if (deps.closing.aborted) return;
      await Promise.all(found.slice(at, at + concurrency).map((digest) => send(deps, digest)));
    }
    if (isLast) return;
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
