import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from './retention-deps.ts';

export interface SweepEachOptions {
  readonly ids: readonly string[];
  /** The page size: with as many IDs, there may be more. */
  readonly idsMax: number;
  readonly sweepOne: (id: string) => Promise<SweepReport>;
  readonly onFailure: (error: unknown, id: string) => void;
}

/** Processes items in order until the run ends. Logs failures and continues with the next item. */
export async function sweepEach(
  deps: RetentionDeps,
  limit: SweepLimit,
  { ids, idsMax, sweepOne, onFailure }: SweepEachOptions,
): Promise<SweepReport> {
  let removed = 0;
  let hasMore = ids.length === idsMax;
  for (const id of ids) {
    if (isOver(deps, limit)) return { removed, hasMore: true };
    try {
      const report = await sweepOne(id);
      removed += report.removed;
      hasMore ||= report.hasMore;
    } catch (error) {
      onFailure(error, id);
    }
  }
  return { removed, hasMore };
}
