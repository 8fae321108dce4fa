/** What a backup or a restore has done so far, in parts of the engine's own kind (pages of a file, documents). */
export interface CopyProgress {
  readonly done: number;
  readonly total: number;
}

/** What a backup or a restore made. */
export interface CopyReport {
  /** Where from and where to, as a person knows them. */
  readonly from: string;
  readonly to: string;
  readonly bytes: number;
}
