import type { Claim, Deliveries } from '../../ports/deliveries.ts';
import { newId } from '../../testing/builders.ts';

const now = 1_800_000_000_000;
const rows = 400;

/** Calls every method of the ledger, among rows of several messages, users and times. */
export async function useLedger(deliveries: Deliveries): Promise<void> {
  const users = Array.from({ length: rows }, newId);
  const [first, other] = [newId(), newId()];
  const claimsOf = (messageId: string) =>
    users.map((userId): Claim => ({
      messageId,
      deviceId: newId(),
      topicId: first,
      userId,
      subscriptionId: userId,
      platform: 'ios',
    }));
  const claims = claimsOf(first);
  const deviceIds = claims.slice(0, 3).map(({ deviceId }) => deviceId);
  for (const [time, of] of [
    [now, claims],
    [now + 60_000, claimsOf(other)],
  ] as const) {
    await deliveries.claim(of, { now: time, staleAfterMs: 1 });
    await deliveries.record(
      of.map((claim) => ({ ...claim, status: 'failed', reason: null })),
      time,
    );
  }
  await deliveries.claim(claims.slice(0, 3), { now, staleAfterMs: 1, again: ['failed'] });
  await deliveries.record(
    claims.slice(0, 3).map((claim) => ({ ...claim, status: 'skipped', reason: null })),
    now,
  );
  await deliveries.find(first, { limit: 10 });
  await deliveries.find(first, { after: deviceIds[0]!, limit: 10 });
  await deliveries.find(first, { deviceIds, limit: 10 });
  await deliveries.find(first, { userId: users[0]!, limit: 10 });
  await deliveries.counts(other);
  await deliveries.removeBefore(now + 30_000, 50);
  await deliveries.removeOfUser(users.at(-1)!, 50);
}
