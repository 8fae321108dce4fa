import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from './retention-deps.ts';

export interface SweepEachOptions {
  readonly ids: readonly string[];
  /** How many ids were asked for at most: with so many, there may be more. */
  readonly idsMax: number;
  readonly sweepOne: (id: string) => Promise<SweepReport>;
  readonly onFailure: (error: unknown, id: string) => void;
}

/** Sweeps one after the other until the run is over. One that fails is told of, and does not keep the others from it. */
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
