import {
  deliveryStatuses,
  type Claim,
  type Delivery,
  type DeliveryStatus,
  type Outcome,
} from '../../ports/deliveries.ts';

/** A minimal model of the ledger. */
export class DeliveriesModel {
  #rows = new Map<string, Delivery>();

  claim(claims: readonly Claim[], { now, staleAfterMs }: { now: number; staleAfterMs: number }): Set<string> {
    return new Set(claims.filter((claim) => this.#claimOne(claim, now, staleAfterMs)).map(({ deviceId }) => deviceId));
  }

  #claimOne(claim: Claim, now: number, staleAfterMs: number): boolean {
    const row = this.#rows.get(keyOf(claim));
    const isDue = row?.status === 'retrying' && (row.retryAt ?? 0) <= now;
    const isStale = row?.status === 'pending' && row.updatedAt < now - staleAfterMs;
    if (row !== undefined && !isDue && !isStale) return false;
    this.#rows.set(keyOf(claim), {
      ...(row ?? claim),
      status: 'pending',
      reason: null,
      attempts: (row?.attempts ?? 0) + 1,
      retryAt: null,
      updatedAt: now,
    });
    return true;
  }

  record(outcomes: readonly Outcome[], now: number): void {
    const last = new Map(outcomes.map((outcome) => [keyOf(outcome), outcome])).values();
    for (const { status, reason, retryAt, ...claim } of last) {
      const row = this.#rows.get(keyOf(claim));
      if (row?.status === 'sent' && (status === 'skipped' || status === 'retrying')) continue;
      this.#rows.set(keyOf(claim), {
        ...(row ?? { ...claim, attempts: 0 }),
        status,
        reason,
        retryAt: status === 'retrying' ? (retryAt ?? null) : null,
        updatedAt: now,
      });
    }
  }

  find(
    messageId: string,
    {
      userId,
      deviceIds,
      after,
      limit,
    }: { userId?: string; deviceIds?: readonly string[]; after?: string; limit: number },
  ): Delivery[] {
    return [...this.#rows.values()]
      .filter(
        (row) =>
          row.messageId === messageId &&
          (userId ?? row.userId) === row.userId &&
          (deviceIds ?? [row.deviceId]).includes(row.deviceId) &&
          (after === undefined || row.deviceId > after),
      )
      .sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1))
      .slice(0, limit);
  }

  counts(messageId: string): Record<DeliveryStatus, number> {
    const rows = this.find(messageId, { limit: Infinity });
    const counts = deliveryStatuses.map((status) => [status, rows.filter((row) => row.status === status).length]);
    return Object.fromEntries(counts) as Record<DeliveryStatus, number>;
  }

  removeBefore(time: number): number {
    return this.#remove(({ updatedAt }) => updatedAt < time);
  }

  removeOfUser(userId: string): number {
    return this.#remove((row) => row.userId === userId);
  }

  #remove(isFinished: (row: Delivery) => boolean): number {
    const finished = [...this.#rows].filter(([, row]) => isFinished(row));
    for (const [key] of finished) this.#rows.delete(key);
    return finished.length;
  }
}

const keyOf = ({ messageId, deviceId }: Claim) => `${messageId} ${deviceId}`;
