/** Removes a batch; resolves with the number of removed items, 0 when none is left. */
export type RemoveBatch = () => Promise<number>;

export interface BatchReport {
  readonly removed: number;
  /** Whether work remains after `batchesMax` batches; call again. */
  readonly hasMore: boolean;
}

/** Runs the removals in order, in at most `batchesMax` batches. Can be interrupted and run again at any point. */
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
