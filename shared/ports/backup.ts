/** Progress of a backup or restore, in units of the engine (pages of a file, documents). */
export interface CopyProgress {
  readonly done: number;
  readonly total: number;
}

/** The result of a backup or restore. */
export interface CopyReport {
  /** Source and target, as shown to the operator. */
  readonly from: string;
  readonly to: string;
  readonly bytes: number;
}
