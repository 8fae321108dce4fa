/** What became of the log that the store is a view of. */
export interface AdoptedLog {
  /** Why it had to be adopted, in words for the operator; null when it is the log that the store knows, and nothing was changed. */
  readonly reason: string | null;
  /** What is added to the log's own offsets to make positions, per partition; empty where the log is in the file itself. */
  readonly bases: readonly number[];
}
