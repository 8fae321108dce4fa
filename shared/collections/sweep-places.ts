import type { Collection } from '../ports/documents.ts';

/** The progress of a sweep that processes some of the documents in each run. */
export interface SweepPlace {
  /** The name of the sweep. */
  readonly id: string;
  readonly version: number;
  /** The cursor to resume from; null for the start. */
  readonly place: string | null;
  /** When the next or current round is due. */
  readonly dueAt: number;
}

export const sweepPlaces: Collection<SweepPlace> = {
  name: 'sweepPlaces',
  fields: { place: 'text', dueAt: 'time' },
  uniqueKeys: {},
  indexes: {},
};
