import type { ArchiveStore } from '../../ports/archive-store.ts';
import { archiveManifestKey, isArchiveManifest, topicArchive } from './archive-keys.ts';

/**
 * Removes an object, then its manifest, which stays while the object is locked. Idempotent. Resolves with whether the
 * store keeps one of them because it is locked. Throws `unavailable`.
 */
export async function removeArchivedObject(store: Pick<ArchiveStore, 'remove'>, object: string): Promise<boolean> {
  return (await store.remove(object)) === 'locked' || (await store.remove(archiveManifestKey(object))) === 'locked';
}

/**
 * Removes the archive of a topic, also unfinished objects. Idempotent. Resolves with the number of objects that the
 * store keeps because they are locked. Throws `unavailable`.
 */
export async function removeTopicArchive(
  store: Pick<ArchiveStore, 'list' | 'remove'>,
  topicId: string,
): Promise<number> {
  let locked = 0;
  for await (const key of store.list(topicArchive(topicId)))
    if (!isArchiveManifest(key) && (await removeArchivedObject(store, key))) locked += 1;
  // Their objects were removed before an interruption.
  if (locked === 0) for await (const key of store.list(topicArchive(topicId))) await store.remove(key);
  return locked;
}
