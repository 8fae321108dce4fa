import type { Connection } from 'mongoose';
import type { AnyCollection } from '../../../../ports/document-checks.ts';
import type { Write } from '../../../../ports/documents.ts';
import type { AnnouncedChanges } from '../../../../ports/engine.ts';
import { writeBatcher } from '../../../../async/write-batcher.ts';
import { mapUnavailable } from '../mongo-connection.ts';
import { throughElection } from '../mongo-election.ts';

/**
 * IDs in the document of announcements. A reader that is further behind treats every document as changed. Each
 * announcement rewrites all of them, in the oplog as well.
 */
const recentMax = 256;
/** Waiting and running announcements of a process. */
const waitingMax = 100_000;

interface Announcements {
  readonly _id: 'documents';
  /** Announcements so far. */
  readonly position: number;
  /** The IDs of the last announcements. */
  readonly recent: string[];
}

/** What a write changes of a document. */
export interface DocumentChange {
  readonly collection: AnyCollection;
  readonly id: string;
  /** Null: the whole document. */
  readonly fields: readonly string[] | null;
}

/**
 * Announces changes of cached documents in one MongoDB document. A single document orders the announcements of all
 * processes, so that a reader that knows its position has missed none.
 */
export class ChangeAnnouncements {
  readonly #connection: Connection;
  readonly #write = writeBatcher<string>((ids) => this.#append(ids), {
    batchSizeMax: recentMax,
    writesMax: 1,
    itemsMax: waitingMax,
  });

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Resolves when the majority has the announcement of those changes that caches must not miss. Call it before the
   * changes, so that a process that is killed between both leaves an announced change that did not happen, and not the
   * reverse. Throws `unavailable`.
   */
  async announce(changes: readonly DocumentChange[]): Promise<void> {
    const ids = new Set(changes.filter(isAnnounced).map(({ id }) => id));
    if (ids.size > 0) await this.#write([...ids]);
  }

  /** See `StorageFeatures`. */
  since(position: number | null): Promise<AnnouncedChanges> {
    return mapUnavailable(async () => {
      const found = await this.#collection.findOne(
        position === null ? { _id: 'documents' } : { _id: 'documents', position: { $ne: position } },
      );
      if (found === null) return { position: position ?? 0, ids: position === null ? 'all' : [] };
      const missed = position === null ? -1 : found.position - position;
      const isKnown = missed >= 0 && missed <= found.recent.length;
      return { position: found.position, ids: isKnown ? found.recent.slice(-missed) : 'all' };
    });
  }

  get #collection() {
    return this.#connection.db!.collection<Announcements>('announced_changes');
  }

  /** A repetition during an election only announces twice. */
  async #append(ids: readonly string[]): Promise<void> {
    await mapUnavailable(() =>
      throughElection(() =>
        this.#collection.updateOne(
          { _id: 'documents' },
          {
            $inc: { position: ids.length },
            $push: { recent: { $each: ids.slice(-recentMax), $slice: -recentMax } },
          },
          { upsert: true },
        ),
      ),
    );
  }
}

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
