import { createHash, type Hash } from 'node:crypto';
import { isUnavailable } from '../../domain/errors.ts';
import type { ArchiveStore } from '../../ports/archive-store.ts';
import type { ArchiveManifest } from '../../wire/archive-manifest.ts';
import { readArchive, readArchivedMessages } from './read-archive.ts';

export interface ArchiveReport {
  /** Intact objects and their messages. */
  readonly objects: number;
  readonly messages: number;
  /** Keys with what is wrong with them, in order. */
  readonly faults: readonly { readonly key: string; readonly fault: string }[];
  /** Keys of objects without a manifest: of a run that continues, or that did not complete. Not part of the archive. */
  readonly unfinished: readonly string[];
}

/**
 * Reads every object of a topic, or of all topics, and compares it with its manifest. Calls `onProgress` with the
 * number of messages in intact objects. Throws AppError `unavailable` if the store does not respond.
 */
export async function verifyArchive(
  store: Pick<ArchiveStore, 'get' | 'list'>,
  topicId: string | null,
  onProgress: (messages: number) => void,
): Promise<ArchiveReport> {
  const sum = { objects: 0, messages: 0 };
  const faults: { key: string; fault: string }[] = [];
  const unfinished: string[] = [];
  for await (const entry of readArchive(store, topicId)) {
    if (entry.kind === 'unfinished') unfinished.push(entry.key);
    else if (entry.kind === 'damaged') faults.push({ key: entry.key, fault: 'is not a manifest' });
    else {
      const { object, messages } = entry.manifest;
      const fault = await archiveFault(store, entry.manifest);
      if (fault !== null) faults.push({ key: object, fault });
      else {
        sum.objects += 1;
        sum.messages += messages;
      }
      onProgress(sum.messages);
    }
  }
  return { ...sum, faults, unfinished };
}

/** Reads the object of the manifest. Returns what is wrong with it, or null. Throws AppError `unavailable`. */
export async function archiveFault(
  store: Pick<ArchiveStore, 'get'>,
  manifest: ArchiveManifest,
): Promise<string | null> {
  const body = await store.get(manifest.object);
  if (body === null) return 'is missing';
  const hash = createHash('sha256');
  const found = { messages: 0, firstOffset: -1, lastOffset: -1 };
  try {
    for await (const { offset, topicId } of readArchivedMessages(hashed(body, hash), manifest.object)) {
      if (topicId !== manifest.topic_id) return `contains a message of another topic, ${topicId}`;
      if (found.messages === 0) found.firstOffset = offset;
      found.lastOffset = offset;
      found.messages += 1;
    }
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return 'is damaged: not gzipped lines of messages';
  }
  if (hash.digest('hex') !== manifest.sha256) return 'is damaged: its SHA-256 is not that of the manifest';
  if (found.messages !== manifest.messages)
    return `contains ${found.messages} messages instead of ${manifest.messages}`;
  const isSame = found.firstOffset === manifest.first_offset && found.lastOffset === manifest.last_offset;
  return isSame ? null : 'contains other offsets than its manifest';
}

async function* hashed(body: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body) {
    hash.update(chunk);
    yield chunk;
  }
}
