import type { Collection } from '../ports/documents.ts';

/** How far a sweep has come that goes through everything there is, some of it in each run. */
export interface SweepPlace {
  /** The sweep's name. */
  readonly id: string;
  readonly version: number;
  /** Where to go on; null: from the start. */
  readonly place: string | null;
  /** When the next round is due, or the one that is under way was. */
  readonly dueAt: number;
}

export const sweepPlaces: Collection<SweepPlace> = {
  name: 'sweepPlaces',
  fields: { place: 'text', dueAt: 'time' },
  uniqueKeys: {},
  indexes: {},
};
