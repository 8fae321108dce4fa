import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { AnyCollection } from '../../../../ports/document-checks.ts';
import type { Write } from '../../../../ports/documents.ts';
import { announcedAheadMsMax, type AnnouncedChanges } from '../../../../ports/announced-changes.ts';
import { writeBatcher } from '../../../../async/write-batcher.ts';
import { mapUnavailable } from '../mongo-connection.ts';
import { throughElection } from '../mongo-election.ts';
import type { Clock } from '../../../../platform/clock.ts';
import { checksumOf } from '../../../../platform/ids.ts';

/**
 * Checksums in the document of announcements. A reader that is further behind treats every document as changed. Each
 * announcement rewrites all of them, in the oplog as well.
 */
const recentMax = 256;
/** Waiting and running announcements of a process. */
const waitingMax = 100_000;

interface Announcements {
  readonly _id: 'documents';
  /** The token of the last append. Random, because a rollback after a failover must not repeat a known position. */
  readonly position: string;
  /** The checksums of the last announced IDs, each after the token of its append. */
  readonly recent: string[];
}

/** The position without the document of announcements. */
const neverAnnounced = '';

/** What a write changes of a document. */
export interface DocumentChange {
  readonly collection: AnyCollection;
  readonly id: string;
  /** Null: the whole document. */
  readonly fields: readonly string[] | null;
}

/**
 * Announces changes of cached documents in one MongoDB document. A single document orders the announcements of all
 * processes, so a reader that finds its position in it has missed none.
 */
export class ChangeAnnouncements {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #append = writeBatcher<number>((checksums) => this.#appendNow(checksums), {
    batchSizeMax: recentMax,
    writesMax: 2,
    itemsMax: waitingMax,
  });

  /** `clock` is monotonic. */
  constructor(connection: Connection, clock: Clock = () => performance.now()) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /**
   * Runs the write when the majority has the announcement of those changes that caches must not miss: a process that is
   * killed in between leaves an announced change that did not happen, and not the reverse. A write that takes too long
   * is announced again. Throws like the write, and errors of MongoDB.
   */
  async announce<T>(changes: readonly DocumentChange[], write: () => Promise<T>): Promise<T> {
    const checksums = [...new Set(changes.filter(isAnnounced).map(({ id }) => checksumOf(id)))];
    if (checksums.length === 0) return write();
    const startedAt = this.#clock();
    await this.#append(checksums);
    try {
      return await write();
    } finally {
      // Caches may have read the values before the write, and keep them.
      if (this.#clock() - startedAt > announcedAheadMsMax) await this.#append(checksums);
    }
  }

  /** See `StorageFeatures`. */
  since(position: string | null): Promise<AnnouncedChanges> {
    return mapUnavailable(async () => {
      const found = await this.#collection.findOne(
        { _id: 'documents' },
        { projection: { position: 1, recent: { $cond: [{ $eq: ['$position', position] }, [], '$recent'] } } },
      );
      const current = found?.position ?? neverAnnounced;
      if (current === position) return { position, checksums: [] };
      const recent = found?.recent ?? [];
      const place = recent.findLastIndex((one) => one.startsWith(`${position} `));
      const hasMissedNone = place >= 0 || (position === neverAnnounced && recent.length < recentMax);
      return { position: current, checksums: hasMissedNone ? recent.slice(place + 1).map(checksumIn) : 'all' };
    });
  }

  get #collection() {
    return this.#connection.db!.collection<Announcements>('announced_changes');
  }

  async #appendNow(checksums: readonly number[]): Promise<void> {
    await throughElection(() => {
      // Each attempt is another position: the failed one may have been stored.
      const position = randomBytes(9).toString('base64url');
      const added = checksums.slice(-recentMax).map((checksum) => `${position} ${checksum}`);
      return this.#collection.updateOne(
        { _id: 'documents' },
        { $set: { position }, $push: { recent: { $each: added, $slice: -recentMax } } },
        { upsert: true },
      );
    });
  }
}

const checksumIn = (announced: string): number => Number(announced.slice(announced.indexOf(' ') + 1));

function isAnnounced({ collection: { cached }, fields }: DocumentChange): boolean {
  return cached !== undefined && (fields === null || fields.some((field) => !cached.lateFields.includes(field)));
}

/** What a write of a commit changes; undefined if it changes no existing document. */
export function changeOf(write: Write): DocumentChange | undefined {
  const { collection } = write;
  switch (write.kind) {
    case 'insert':
    case 'require':
      return undefined;
    case 'accumulate':
      return { collection, id: write.document.id, fields: write.sum === null ? [] : [write.sum] };
    case 'update':
      return { collection, id: write.id, fields: Object.keys(write.set) };
    case 'increment':
      return { collection, id: write.id, fields: Object.keys(write.by) };
    case 'remove':
      return { collection, id: write.id, fields: null };
  }
}
