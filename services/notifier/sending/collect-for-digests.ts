import { collectedReason, digestIdOf, digestSchedule, isForDigest } from '@tocsin/shared/domain/push/digest.ts';
import type { Delivery, Outcome, Recipient } from '@tocsin/shared/ports/deliveries.ts';
import { write, type Documents } from '@tocsin/shared/ports/documents.ts';
import { digestItems, digests, type Digest, type DigestItem } from '@tocsin/shared/collections/push/digests.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { ledgerRows } from './ledger-rows.ts';
import type { Push } from './load-push.ts';
import type { PushDeps } from './push-deps.ts';
import { recordOutcomes } from './record-outcomes.ts';
import type { Attempt } from './send-push.ts';
import { dueAfter } from './digest-times.ts';

/**
 * Collects a message for the digests of recipients who have one; resolves with their subscriptions, which get no push
 * of their own. A retry and a replay go out immediately, like a page of an escalation. Idempotent: a message that has a
 * row in the ledger is not collected again. Costs nothing if no recipient has a digest.
 */
export async function collectForDigests(
  deps: PushDeps,
  push: Push,
  recipients: readonly Recipient[],
  { round, again }: Attempt,
): Promise<ReadonlySet<string>> {
  const { message, page } = push;
  if (!isForDigest(message) || page !== undefined || round > 0 || again.length > 0) return new Set();
  const wanted = recipients
    .filter(({ settings }) => settings.digest !== null)
    .map((one) => ({ ...one, devices: one.devices.filter(({ platform }) => deps.gateways.has(platform)) }));
  if (wanted.length === 0) return new Set();
  const rows = new Map<string, Delivery>();
  const deviceIds = wanted.flatMap(({ devices }) => devices.map(({ id }) => id));
  for await (const page of ledgerRows(deps.engine.deliveries, message.id, deviceIds))
    for (const row of page) rows.set(row.deviceId, row);
  // A push that began before the digest was turned on continues.
  const collected = wanted.filter(({ devices }) => !devices.some(({ id }) => isUnderWay(rows.get(id))));
  const fresh = collected
    .map((recipient) => ({ ...recipient, devices: recipient.devices.filter(({ id }) => !rows.has(id)) }))
    .filter(({ devices }) => devices.length > 0);
  if (fresh.length > 0) await collect(deps, push, fresh);
  return new Set(collected.map(({ subscriptionId }) => subscriptionId));
}

const isUnderWay = (row: Delivery | undefined): boolean => row?.status === 'pending' || row?.status === 'retrying';

/**
 * Stores the items before it makes sure that a digest is due for them, so that a notifier that sends it at this moment
 * either finds them or finds that the digest changed. The rows come last, so that a crash before repeats the rest.
 */
async function collect(deps: PushDeps, { message, topic }: Push, recipients: readonly Recipient[]): Promise<void> {
  const { documents } = deps.engine;
  const now = deps.clock();
  const wanted = new Map<string, Omit<Digest, 'version'>>();
  const items = recipients.map(({ userId, subscriptionId, settings, devices }): Omit<DigestItem, 'version'> => {
    const schedule = digestSchedule(settings)!;
    const digestId = digestIdOf(userId, schedule);
    wanted.set(digestId, {
      id: digestId,
      userId,
      ...schedule,
      dueAt: dueAfter(schedule, now),
      decidedAt: now,
      claimedAt: null,
      round: 0,
      giveUpAt: null,
    });
    return {
      id: `${userId} ${message.id}`,
      digestId,
      userId,
      subscriptionId,
      topicId: topic.id,
      messageId: message.id,
      devices: devices.map(({ id: deviceId, platform }) => ({ deviceId, platform })),
      collectedAt: now,
    };
  });
  await documents.commit(items.map((item) => write.accumulate(digestItems, item, null)));
  const dueAt = await openDigests(documents, wanted);
  const outcomes = items.flatMap(({ digestId, userId, subscriptionId, topicId, messageId, devices }) =>
    devices.map((device): Outcome => ({
      ...device,
      messageId,
      topicId,
      userId,
      subscriptionId,
      status: 'skipped',
      reason: collectedReason(dueAt.get(digestId)!),
    })),
  );
  await recordOutcomes(deps, outcomes);
}

/**
 * Makes sure that each digest is due after the call, and resolves with the times. A digest that is being sent changes
 * its version, so that its notifier opens it again.
 */
async function openDigests(
  documents: Documents,
  wanted: ReadonlyMap<string, Omit<Digest, 'version'>>,
): Promise<Map<string, number>> {
  const dueAt = new Map<string, number>();
  await retryStale(
    async () => {
      const ids = [...wanted.keys()].filter((id) => !dueAt.has(id));
      for (const found of await documents.getMany(digests, ids)) {
        const { id, claimedAt } = found;
        if (claimedAt !== null) await documents.update(digests, found, { claimedAt });
        dueAt.set(id, claimedAt === null ? found.dueAt : wanted.get(id)!.dueAt);
      }
      const missing = ids.filter((id) => !dueAt.has(id)).map((id) => wanted.get(id)!);
      if (missing.length === 0) return;
      await documents.commit(missing.map((digest) => write.accumulate(digests, digest, null)));
      // Another notifier can have opened one, and even sent it, since the read.
      for (const { id, dueAt: at } of await documents.getMany(
        digests,
        missing.map(({ id }) => id),
      ))
        if (at === wanted.get(id)!.dueAt) dueAt.set(id, at);
      if (missing.some(({ id }) => !dueAt.has(id))) throw new LostRace();
    },
    (error) => error instanceof LostRace,
  );
  return dueAt;
}

class LostRace extends Error {}
