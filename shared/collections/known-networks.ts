import type { Collection, Document } from '../ports/documents.ts';

/** A network from which an account logged in. The ID is a hash, because an address is personal data. */
export interface KnownNetwork extends Document {
  readonly userId: string;
  /** Milliseconds since the epoch, at most a day before the last login. */
  readonly seenAt: number;
}

export const knownNetworks: Collection<KnownNetwork> = {
  name: 'knownNetworks',
  fields: { userId: 'text', seenAt: 'time' },
  uniqueKeys: {},
  indexes: { byUser: ['userId', 'seenAt'], byTime: ['seenAt'] },
};
