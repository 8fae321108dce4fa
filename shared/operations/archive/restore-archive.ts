import type { Audit } from '../../collections/audit-log.ts';
import { chunkItems } from '../../async/chunk-items.ts';
import { users } from '../../collections/users.ts';
import { erasedActor, type Actor } from '../../domain/messages/actor.ts';
import { erasedAcknowledgement } from '../../domain/messages/message-extras.ts';
import type { StoredMessage } from '../../domain/messages/message.ts';
import { toIso } from '../../domain/to-iso.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type { ArchiveStore } from '../../ports/archive-store.ts';
import type { Documents } from '../../ports/documents.ts';
import type { MessageIngest } from '../../ports/messages/message-ingest.ts';
import type { MessageReads } from '../../ports/messages/message-reads.ts';
import type { ArchiveManifest } from '../../wire/archive-manifest.ts';
import { readArchive, readArchivedMessages } from './read-archive.ts';
import { archiveFault } from './verify-archive.ts';

export interface RestoreDeps {
  readonly store: Pick<ArchiveStore, 'get' | 'list'>;
  readonly documents: Pick<Documents, 'commit' | 'pick'>;
  readonly messages: Pick<MessageIngest, 'reconcile'> & Pick<MessageReads, 'findMany'>;
}

export interface RestoreOptions {
  readonly topic: Topic;
  /** Publish times, both inclusive. */
  readonly from: number;
  readonly to: number;
  readonly days: number;
  readonly now: number;
  readonly audit: Audit;
  /** Called with the number of messages read. */
  readonly onProgress: (messages: number) => void;
}

export interface RestoreReport {
  readonly restored: number;
  /** Messages of the period that are still, or again, in the store; they keep their expiry. */
  readonly present: number;
  /** Keys that were not restored, with what is wrong with them. */
  readonly faults: readonly { readonly key: string; readonly fault: string }[];
}

const dayMs = 86_400_000;
/** Messages per write. */
const batchSize = 500;

/**
 * Returns archived messages of the topic to history until `days` from now, except deleted ones. They are marked as
 * restored, which makes them read-only, and do not pass through the log: nothing delivers or pushes them. Skips damaged
 * objects. Idempotent, and safe while nodes run. Records the restore in the audit log. Throws `unavailable`.
 */
export async function restoreArchive(deps: RestoreDeps, options: RestoreOptions): Promise<RestoreReport> {
  const { topic, from, to, days, audit, onProgress } = options;
  const period = { from: toIso(from), to: toIso(to) };
  await deps.documents.commit(
    audit({ action: 'topic.archive_restored', subject: topic, details: { ...period, days } }),
  );
  const sum = { restored: 0, present: 0 };
  const faults: { key: string; fault: string }[] = [];
  for await (const entry of readArchive(deps.store, topic.id)) {
    if (entry.kind === 'damaged') faults.push({ key: entry.key, fault: 'is not a manifest' });
    if (entry.kind !== 'object' || !overlaps(entry.manifest, options)) continue;
    const { object } = entry.manifest;
    const fault = await archiveFault(deps.store, entry.manifest);
    const body = fault === null ? await deps.store.get(object) : null;
    if (body === null) {
      faults.push({ key: object, fault: fault ?? 'is missing' });
      continue;
    }
    for await (const batch of chunkItems(toRestore(readArchivedMessages(body, object), options), batchSize)) {
      const restored = await writeMissing(deps, topic, batch);
      sum.restored += restored;
      sum.present += batch.length - restored;
      onProgress(sum.restored + sum.present);
    }
  }
  return { ...sum, faults };
}

const overlaps = ({ first_time, last_time }: ArchiveManifest, { from, to }: RestoreOptions): boolean =>
  Date.parse(first_time) <= to && Date.parse(last_time) >= from;

/** Returns those of the messages that are restored, as they are stored. */
async function* toRestore(
  messages: AsyncIterable<StoredMessage>,
  { from, to, days, now }: RestoreOptions,
): AsyncGenerator<StoredMessage, void> {
  for await (const message of messages)
    if (!message.isDeleted && message.timestamp >= from && message.timestamp <= to)
      yield { ...message, expiresAt: now + days * dayMs, restoredAt: now };
}

/** Resolves with the number of written messages. Several objects can contain a message. */
async function writeMissing(
  { documents, messages }: RestoreDeps,
  { partition }: Topic,
  batch: readonly StoredMessage[],
): Promise<number> {
  const stored = new Set((await messages.findMany(batch.map(({ id }) => id))).map(({ id }) => id));
  const missing = await withoutErased(
    documents,
    batch.filter(({ id }) => !stored.has(id)),
  );
  await messages.reconcile(
    partition,
    missing.map(({ offset, ...message }) => ({
      partition,
      offset,
      record: { type: 'message', timestamp: message.timestamp, message },
    })),
  );
  return missing.length;
}

/** Removes the names and IDs of accounts that were deleted since: a locked object still contains them. */
async function withoutErased(
  documents: Pick<Documents, 'pick'>,
  messages: readonly StoredMessage[],
): Promise<StoredMessage[]> {
  const actors = messages.flatMap(({ publishedBy, acknowledgement }) => [publishedBy, acknowledgement?.by]);
  const ids = new Set(actors.flatMap((actor) => actor?.accountId ?? []));
  const existing = new Set((await documents.pick(users, [...ids], [])).map(({ id }) => id));
  const isErased = ({ accountId }: Actor) => accountId !== null && !existing.has(accountId);
  return messages.map((message) => {
    const { publishedBy, acknowledgement } = message;
    return {
      ...message,
      publishedBy: publishedBy !== null && isErased(publishedBy) ? erasedActor(publishedBy) : publishedBy,
      acknowledgement:
        acknowledgement !== null && isErased(acknowledgement.by)
          ? erasedAcknowledgement(acknowledgement)
          : acknowledgement,
    };
  });
}
