import { Readable } from 'node:stream';
import { gunzipLines } from '../../async/gunzip-lines.ts';
import type { StoredMessage } from '../../domain/messages/message.ts';
import type { ArchiveStore } from '../../ports/archive-store.ts';
import { archiveManifest, type ArchiveManifest } from '../../wire/archive-manifest.ts';
import { archiveManifestKey, archiveRoot, isArchiveManifest, topicArchive } from './archive-keys.ts';
import { parseArchiveLine } from './archived-message.ts';

/** Far above any manifest. */
const manifestBytesMax = 64 * 1024;

/** An object of the archive with its manifest, or the key of one of them without the other. */
export type ArchiveEntry =
  | { readonly kind: 'object'; readonly manifest: ArchiveManifest }
  /** The manifest cannot be read; it may belong to an intact object. */
  | { readonly kind: 'damaged'; readonly key: string }
  /** An object without a manifest, from a run that did not complete. */
  | { readonly kind: 'unfinished'; readonly key: string };

/**
 * Returns the entries of a topic, or of all topics, ordered by topic ID and first offset. Does not read the objects,
 * which can be missing. Throws AppError `unavailable`.
 */
export async function* readArchive(
  store: Pick<ArchiveStore, 'get' | 'list'>,
  topicId: string | null,
): AsyncGenerator<ArchiveEntry, void> {
  // A manifest comes immediately before its object.
  let manifestKey = '';
  for await (const key of store.list(topicId === null ? archiveRoot : topicArchive(topicId))) {
    if (!isArchiveManifest(key)) {
      if (archiveManifestKey(key) !== manifestKey) yield { kind: 'unfinished', key };
      continue;
    }
    manifestKey = key;
    const body = await store.get(key);
    if (body === null) continue; // Removed meanwhile.
    const manifest = await readManifest(body, key);
    yield manifest === null ? { kind: 'damaged', key } : { kind: 'object', manifest };
  }
}

/** Null if it is not the manifest that belongs at the key. */
async function readManifest(body: AsyncIterable<Uint8Array>, key: string): Promise<ArchiveManifest | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > manifestBytesMax) return null;
    chunks.push(chunk);
  }
  const { data } = archiveManifest.safeParse(parseJson(Buffer.concat(chunks).toString()));
  return data !== undefined && archiveManifestKey(data.object) === key ? data : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the lines of a compressed object. Throws if it is damaged; rethrows errors of the body. */
export const readArchiveLines = (body: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string, void> =>
  gunzipLines(Readable.from(body), name);

/** Reads the messages of a compressed object. Throws if it is damaged; rethrows errors of the body. */
export async function* readArchivedMessages(
  body: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<StoredMessage, void> {
  for await (const line of readArchiveLines(body, name)) yield parseArchiveLine(line);
}
