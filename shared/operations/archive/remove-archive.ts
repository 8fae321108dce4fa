import type { ArchiveStore } from '../../ports/archive-store.ts';
import { archiveManifestKey } from './archive-keys.ts';

/**
 * Removes an object, then its manifest, which stays while the object is locked. Idempotent. Returns the keys that the
 * store keeps because they are locked. Throws `unavailable`.
 */
export async function removeArchivedObject(store: Pick<ArchiveStore, 'remove'>, object: string): Promise<string[]> {
  const keys = [object, archiveManifestKey(object)];
  for (const [index, key] of keys.entries()) if ((await store.remove(key)) === 'locked') return keys.slice(index);
  return [];
}
