import type { Claim, JobTable } from './job-table.ts';

/** A lease of this process on a job. */
export interface Lease extends Claim {
  readonly leaseMs: number;
  endsAt: number;
}

/**
 * The leases of all jobs running in this process. They are renewed after a third of their time, and always before this
 * process releases expired leases, so that a stalled process does not run its own jobs twice.
 */
export class JobLeases {
  readonly #table: JobTable;
  readonly #leases = new Set<Lease>();

  constructor(table: JobTable) {
    this.#table = table;
  }

  hold({ seq, starts }: Claim, leaseMs: number, endsAt: number): Lease {
    const lease = { seq, starts, leaseMs, endsAt };
    this.#leases.add(lease);
    return lease;
  }

  drop(lease: Lease): void {
    this.#leases.delete(lease);
  }

  hasDue(now: number): boolean {
    for (const lease of this.#leases) if (isDue(lease, now)) return true;
    return false;
  }

  /** Call inside a transaction. Drops leases that another process has taken. */
  renew(now: number): void {
    for (const lease of this.#leases) {
      if (!isDue(lease, now)) continue;
      const endsAt = now + lease.leaseMs;
      if (this.#table.renew(lease, endsAt)) lease.endsAt = endsAt;
      else this.#leases.delete(lease);
    }
  }
}

const isDue = ({ endsAt, leaseMs }: Lease, now: number): boolean => endsAt - now <= (leaseMs * 2) / 3;
