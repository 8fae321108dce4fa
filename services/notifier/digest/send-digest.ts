import { collectedReason } from '@tocsin/shared/domain/push/digest.ts';
import { clockStepMs } from '@tocsin/shared/domain/escalation/escalation-state.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import type { Outcome } from '@tocsin/shared/ports/deliveries.ts';
import { digestItems, digests, type Digest, type DigestItem } from '@tocsin/shared/collections/push/digests.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { sendTimeoutMs } from '../providers/push-gateway.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { storeOutcomes } from '../sending/record-outcomes.ts';
import { backoffMs } from '../sending/send-push.ts';
import { dueAfter, leaseMs, timesAfterSetBack } from '../sending/digest-times.ts';
import { pushDigest } from './push-digest.ts';
import { sortItems, type DigestEntry, type WaitingEntry } from './sort-items.ts';

/** Messages of a digest. Further ones follow in another one. */
const itemsMax = 5_000;
/** Documents per commit. */
const writesMax = 500;
/** The longest pause before a retry, shorter than that of single pushes, because a digest is late already. */
const retryPauseMsMax = 5 * 60_000;

/**
 * Sends a digest that is due and stores what happened to each message. Messages in quiet hours, and those for devices
 * whose provider must be tried again, keep waiting. Throws StaleVersion if another notifier took the digest. If the
 * process dies, another one sends it again after the lease, under the same collapse ID.
 */
export async function sendDigest(deps: PushDeps, found: Digest): Promise<void> {
  const { documents } = deps.engine;
  const now = deps.clock();
  if (found.decidedAt > now + clockStepMs)
    return void (await documents.update(digests, found, timesAfterSetBack(found, now)));
  const digest = await documents.update(digests, found, { claimedAt: now, dueAt: now + leaseMs, decidedAt: now });
  const { id: digestId } = digest;
  const items = await documents.find(digestItems, { index: 'byDigest', equals: { digestId }, limit: itemsMax });
  const sorted = await sortItems(deps, items);
  // Another notifier must not send it at the same time.
  if (deps.clock() - now > leaseMs - sendTimeoutMs)
    return deps.log.warn({ digestId }, 'the store took too long for a digest, retrying');
  const { outcomes, again } = await pushDigest(deps, sorted.ready);
  const retry = again.length === 0 ? null : retryOf(deps, digest);
  const waiting = [...sorted.waiting, ...(retry === null ? [] : again.map((entry) => ({ entry, until: retry.dueAt })))];
  await storeOutcomes(deps, [
    ...sorted.dropped,
    ...outcomes,
    ...(retry === null ? again.map(failed) : []),
    ...waiting.map(({ entry: { claim }, until }): Outcome => ({
      ...claim,
      status: 'skipped',
      reason: collectedReason(until),
    })),
  ]);
  await keepWaiting(deps, items, waiting);
  const times = [...waiting.map(({ until }) => until), ...(items.length === itemsMax ? [now] : [])];
  await settle(deps, digest, {
    dueAt: times.length === 0 ? null : Math.min(...times),
    round: retry === null ? 0 : digest.round + 1,
    giveUpAt: retry?.giveUpAt ?? null,
  });
}

/** Null after the last attempt. */
function retryOf(deps: PushDeps, { round, giveUpAt }: Digest): { dueAt: number; giveUpAt: number } | null {
  const now = deps.clock();
  const dueAt = now + Math.min(backoffMs(deps, round), retryPauseMsMax);
  const until = giveUpAt ?? now + Math.max(deps.limits.retryForMs, dueAt - now);
  return dueAt > until ? null : { dueAt, giveUpAt: until };
}

const failed = ({ claim }: DigestEntry): Outcome => ({
  ...claim,
  status: 'failed',
  reason: 'given up: the provider did not accept the digest',
});

/** Removes the items except those of waiting entries. */
async function keepWaiting(
  { engine: { documents } }: PushDeps,
  items: readonly DigestItem[],
  waiting: readonly WaitingEntry[],
): Promise<void> {
  const left = Map.groupBy(waiting, ({ entry }) => entry.item.id);
  const writes = items.flatMap((item) => {
    const devices = (left.get(item.id) ?? []).map(({ entry: { claim } }) => ({
      deviceId: claim.deviceId,
      platform: claim.platform,
    }));
    if (devices.length === item.devices.length) return [];
    return [devices.length === 0 ? write.remove(digestItems, item.id) : write.update(digestItems, item, { devices })];
  });
  for (let start = 0; start < writes.length; start += writesMax)
    await documents.commit(writes.slice(start, start + writesMax));
}

/**
 * Removes the digest, or opens it again for waiting messages and for those collected meanwhile, which changed its
 * version.
 */
async function settle(
  { engine: { documents }, clock }: PushDeps,
  digest: Digest,
  next: Pick<Digest, 'round' | 'giveUpAt'> & { readonly dueAt: number | null },
): Promise<void> {
  await retryStale(async () => {
    const current = await documents.get(digests, digest.id);
    if (current === null || current.claimedAt !== digest.claimedAt) return;
    const now = clock();
    const isMore = current.version !== digest.version;
    const dueAt = isMore ? Math.min(next.dueAt ?? Infinity, dueAfter(digest, now)) : next.dueAt;
    if (dueAt === null) await documents.commit([write.remove(digests, digest.id, current.version)]);
    else await documents.update(digests, current, { ...next, dueAt, decidedAt: now, claimedAt: null });
  });
}
