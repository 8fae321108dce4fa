import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { StoredMessage } from '../../domain/messages/message.ts';
import { toIso } from '../../domain/to-iso.ts';
import type { ArchiveStore } from '../../ports/archive-store.ts';
import type { ArchiveManifest } from '../../wire/archive-manifest.ts';
import { archiveManifestKey, archiveObjectKey } from './archive-keys.ts';
import { toArchiveLine } from './archived-message.ts';

/** Messages per object. */
const archiveObjectMessagesMax = 100_000;

/** Characters of text per write to the compressor. */
const textPieceChars = 64 * 1024;

export interface ArchiveOptions {
  readonly topic: { readonly id: string; readonly name: string };
  readonly runId: string;
  /** The time of the run, in milliseconds since the epoch. */
  readonly now: number;
  /** Messages per object, for tests. */
  readonly messagesMax?: number;
}

/**
 * Writes messages of one topic, given in the order of their offsets, as objects of at most 100,000. Yields each
 * manifest after the store has confirmed object and manifest: the given messages from `first_offset` to `last_offset`
 * are then archived. Repeating a run replaces its objects. Rethrows errors of the store (`unavailable`) and of
 * `messages`.
 */
export async function* archiveMessages(
  store: Pick<ArchiveStore, 'put'>,
  { topic, runId, now, messagesMax = archiveObjectMessagesMax }: ArchiveOptions,
  messages: AsyncIterable<StoredMessage>,
): AsyncGenerator<ArchiveManifest, void> {
  const source = messages[Symbol.asyncIterator]();
  try {
    for (let next = await source.next(); next.done !== true;) {
      const first = next.value;
      const object = archiveObjectKey({ topicId: topic.id, firstOffset: first.offset, runId });
      const hash = createHash('sha256');
      const sum = { messages: 0, lastOffset: first.offset, firstTime: first.timestamp, lastTime: first.timestamp };
      const lines = async function* () {
        for (; next.done !== true && sum.messages < messagesMax; next = await source.next()) {
          const { offset, timestamp } = next.value;
          sum.messages += 1;
          sum.lastOffset = offset;
          sum.firstTime = Math.min(sum.firstTime, timestamp);
          sum.lastTime = Math.max(sum.lastTime, timestamp);
          yield `${toArchiveLine(next.value)}\n`;
        }
      };
      await store.put(object, compressed(lines(), hash));
      const manifest: ArchiveManifest = {
        version: 1,
        topic_id: topic.id,
        topic: topic.name,
        run_id: runId,
        object,
        messages: sum.messages,
        sha256: hash.digest('hex'),
        first_offset: first.offset,
        last_offset: sum.lastOffset,
        first_time: toIso(sum.firstTime),
        last_time: toIso(sum.lastTime),
        archived_at: toIso(now),
      };
      await store.put(archiveManifestKey(object), Readable.from([Buffer.from(`${JSON.stringify(manifest)}\n`)]));
      yield manifest;
    }
  } finally {
    await source.return?.();
  }
}

/** Compresses the lines and adds the result to the hash. */
async function* compressed(lines: AsyncIterable<string>, hash: Hash): AsyncGenerator<Uint8Array, void> {
  const gzip = createGzip();
  const written = pipeline(Readable.from(inPieces(lines)), gzip);
  // The loop below throws the same error.
  written.catch(() => undefined);
  for await (const chunk of gzip as AsyncIterable<Uint8Array>) {
    hash.update(chunk);
    yield chunk;
  }
  await written;
}

async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string, void> {
  let piece = '';
  for await (const line of lines) {
    piece += line;
    if (piece.length < textPieceChars) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}
