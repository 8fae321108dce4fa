import { retentionRuns } from '@tocsin/shared/collections/retention-runs.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

const keptMs = 90 * 86_400_000;

/** Removes the reports of runs that started 90 days ago. */
export function removeOldReports(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: retentionRuns, index: 'byTime', time: deps.clock() - keptMs });
}
