/** The result of checking that the store and the event log belong together. */
export interface AdoptedLog {
  /**
   * Why the log had to be adopted, as text for the operator; null if the store already knows this log and nothing
   * changed.
   */
  readonly reason: string | null;
  /** Per partition, the base that is added to the log's own offsets. Empty if the log is stored in the SQLite file. */
  readonly bases: readonly number[];
}
