import type { Collection, Document, New } from '../ports/documents.ts';

/** A document with a field of every kind, for tests of the document store. */
export interface Thing extends Document {
  readonly name: string;
  readonly email: string | null;
  readonly team: string | null;
  readonly rank: number;
  readonly score: number | null;
  readonly isActive: boolean;
  readonly madeAt: number;
  readonly extra: unknown;
}

export const things: Collection<Thing> = {
  name: 'things',
  fields: {
    name: 'text',
    email: 'text',
    team: 'text',
    rank: 'integer',
    score: 'real',
    isActive: 'boolean',
    madeAt: 'time',
    extra: 'json',
  },
  uniqueKeys: { email: ['email'], teamRank: ['team', 'rank'] },
  indexes: { byName: ['name', 'madeAt'], byActive: ['name', 'isActive', 'rank'], byTeam: ['team', 'name'] },
};

/** A document that is written in pairs, to detect partial commits. */
export interface Half extends Document {
  readonly pairOf: string;
}

export const lefts: Collection<Half> = {
  name: 'lefts',
  fields: { pairOf: 'text' },
  uniqueKeys: {},
  indexes: { byPair: ['pairOf'] },
};
export const rights: Collection<Half> = { ...lefts, name: 'rights' };

/** A document of an append-only collection. */
export interface Appended extends Document {
  readonly rank: number;
}

export const appended: Collection<Appended> = {
  name: 'appended',
  fields: { rank: 'integer' },
  uniqueKeys: {},
  indexes: { byRank: ['rank'] },
  isAppendOnly: true,
};

export const thingCollections = [things, lefts, rights, appended];

export function newThing(id: string, given: Partial<New<Thing>> = {}): New<Thing> {
  return {
    id,
    name: id,
    email: null,
    team: null,
    rank: 0,
    score: null,
    isActive: true,
    madeAt: 0,
    extra: null,
    ...given,
  };
}
