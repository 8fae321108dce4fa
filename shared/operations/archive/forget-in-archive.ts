import { AppError } from '../../domain/errors.ts';
import { forgetActor } from '../../domain/messages/actor.ts';
import { forgetExtras } from '../../domain/messages/message-extras.ts';
import type { ArchiveStore } from '../../ports/archive-store.ts';
import type { ArchiveManifest } from '../../wire/archive-manifest.ts';
import { archiveMessages } from './archive-messages.ts';
import { parseArchiveLine } from './archived-message.ts';
import { readArchive, readArchiveLines } from './read-archive.ts';
import { removeArchivedObject } from './remove-archive.ts';

/**
 * Removes the account's name and ID from archived messages that it published or acknowledged, as `forgetAccount` does
 * from stored ones. Reads the whole archive. Rewrites each object with such messages under a new key before it removes
 * the former one, so that an interruption loses nothing; idempotent. Skips objects that do not belong to the archive:
 * unfinished ones and those with a damaged manifest. Resolves with the number of objects that stay unchanged because
 * they are locked or damaged. Throws `unavailable`.
 */
export async function forgetInArchive(store: ArchiveStore, accountId: string, makeId: () => string): Promise<number> {
  let kept = 0;
  for await (const entry of readArchive(store, null)) {
    if (entry.kind === 'object' && !(await forgetInObject(store, entry.manifest, { accountId, runId: makeId() })))
      kept += 1;
  }
  return kept;
}

/** Resolves with false if the object names the account and is locked, or cannot be read. */
async function forgetInObject(
  store: ArchiveStore,
  manifest: ArchiveManifest,
  as: { readonly accountId: string; readonly runId: string },
): Promise<boolean> {
  try {
    if (!(await isNamedIn(store, manifest, as.accountId))) return true;
    const rewritten = await rewrite(store, manifest, as);
    const isLocked = await removeArchivedObject(store, manifest.object);
    if (isLocked) await removeArchivedObject(store, rewritten);
    return !isLocked;
  } catch (error) {
    // A damaged object must not delay every erasure.
    if (error instanceof AppError) throw error;
    return false;
  }
}

async function isNamedIn(store: ArchiveStore, manifest: ArchiveManifest, accountId: string): Promise<boolean> {
  for await (const line of linesOf(store, manifest)) if (forgetInLine(line, accountId) !== line) return true;
  return false;
}

/** Resolves with the key of the new object. */
async function rewrite(
  store: ArchiveStore,
  manifest: ArchiveManifest,
  { accountId, runId }: { accountId: string; runId: string },
): Promise<string> {
  const messages = async function* () {
    for await (const line of linesOf(store, manifest)) yield parseArchiveLine(forgetInLine(line, accountId));
  };
  const topic = { id: manifest.topic_id, name: manifest.topic };
  const options = { topic, runId, now: Date.parse(manifest.archived_at), messagesMax: manifest.messages };
  for await (const { object } of archiveMessages(store, options, messages())) return object;
  throw new Error(`${manifest.object} is empty`);
}

async function* linesOf(store: ArchiveStore, { object }: ArchiveManifest): AsyncGenerator<string, void> {
  const body = await store.get(object);
  // Removed with its topic.
  if (body !== null) yield* readArchiveLines(body, object);
}

function forgetInLine(line: string, accountId: string): string {
  if (!line.includes(accountId)) return line;
  const stored = JSON.parse(line) as { readonly extras: string | null; readonly publishedBy: string | null };
  return JSON.stringify({
    ...stored,
    extras: forgetExtras(stored.extras, accountId),
    publishedBy: forgetActor(stored.publishedBy, accountId),
  });
}
