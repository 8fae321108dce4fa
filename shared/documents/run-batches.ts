/** Removes a batch of one kind of thing; resolves with how many, 0 when none is left. */
export type RemoveBatch = () => Promise<number>;

export interface BatchReport {
  readonly removed: number;
  /** True when there is more to do than the batches allowed: call again. */
  readonly hasMore: boolean;
}

/** Removes one kind of thing after the other, in at most `batchesMax` batches. Can be stopped and run again at any point. */
export async function runBatches(kinds: readonly RemoveBatch[], batchesMax: number): Promise<BatchReport> {
  let removed = 0;
  let batches = 0;
  for (const removeBatch of kinds) {
    for (let count = await removeBatch(); count > 0; count = await removeBatch()) {
      removed += count;
      batches += 1;
      if (batches >= batchesMax) return { removed, hasMore: true };
    }
  }
  return { removed, hasMore: false };
}
