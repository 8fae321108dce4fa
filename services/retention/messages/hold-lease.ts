import type { RetentionRun } from '@tocsin/shared/domain/retention/retention-run.ts';
import type { Changes } from '@tocsin/shared/ports/documents.ts';
import { retentionRuns } from '@tocsin/shared/collections/retention-runs.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';
import { runLeaseMs } from './take-run.ts';

/** The lease of a run, of which this worker is the only writer. */
export interface RunLease {
  /** The run as last written. */
  run(): RetentionRun;
  /** Writes the report and renews the lease. Throws StaleVersion if another worker took over the run. */
  update(set: Changes<RetentionRun>): Promise<void>;
  /** Renews the lease while the work lasts. Throws like the work, and like `update` after the work has ended. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Lets the next slot, or the same job, continue the run. */
  release(): Promise<void>;
}

export function holdLease({ engine: { documents }, clock }: RetentionDeps, begun: RetentionRun): RunLease {
  let run = begun;
  const update = async (set: Changes<RetentionRun>): Promise<void> => {
    run = await documents.update(retentionRuns, run, { leasedUntil: clock() + runLeaseMs, ...set });
  };
  return {
    run: () => run,
    update,
    release: () => update({ leasedUntil: 0 }),
    async during(work) {
      let renewing = Promise.resolve();
      const timer = setInterval(() => {
        renewing = renewing.then(() => update({}));
        // Thrown after the work.
        renewing.catch(() => undefined);
      }, runLeaseMs / 4);
      try {
        return await work();
      } finally {
        clearInterval(timer);
        await renewing;
      }
    },
  };
}
