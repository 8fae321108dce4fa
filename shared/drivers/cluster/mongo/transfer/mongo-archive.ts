import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { mongo } from 'mongoose';

/**
 * The backup file of a cluster: a sequence of BSON documents. A header, then for each chunk of a collection the number
 * of documents and the raw documents, then a trailer with the SHA-256 of everything before it, so that a truncated or
 * modified file is detected before it is used.
 */
interface Head {
  readonly tocsinBackup: 1;
  readonly database: string;
  readonly madeAt: Date;
}
interface ChunkHeader {
  readonly collection: string;
  readonly documents: number;
}
interface End {
  readonly documents: number;
  readonly sha256: string;
}

const bufferBytes = 1024 * 1024;
/** MongoDB's document limit plus overhead. */
const documentBytesMax = 17 * 1024 * 1024;

export interface ArchiveWriter {
  /** Documents of one collection in BSON. */
  write(collection: string, documents: readonly Uint8Array[]): Promise<void>;
  /** Writes the trailer, and resolves with the file size. */
  end(): Promise<number>;
}

/** Writes an archive to an open, empty file. */
export async function writeArchive(file: FileHandle, database: string): Promise<ArchiveWriter> {
  const hash = createHash('sha256');
  let written = 0;
  let count = 0;
  const put = async (parts: readonly Uint8Array[]): Promise<void> => {
    const bytes = Buffer.concat(parts);
    hash.update(bytes);
    await file.writeFile(bytes);
    written += bytes.length;
  };
  await put([mongo.BSON.serialize({ tocsinBackup: 1, database, madeAt: new Date() } satisfies Head)]);
  return {
    async write(collection, documents) {
      count += documents.length;
      await put([
        mongo.BSON.serialize({ collection, documents: documents.length } satisfies ChunkHeader),
        ...documents,
      ]);
    },
    async end() {
      await file.writeFile(mongo.BSON.serialize({ documents: count, sha256: hash.digest('hex') } satisfies End));
      return (await file.stat()).size;
    },
  };
}

/** A chunk of a collection's documents in BSON. */
export interface ArchivedChunk {
  readonly collection: string;
  readonly documents: readonly Uint8Array[];
}

/**
 * Reads an archive in chunks. Throws an error for the operator if the file is invalid, truncated or modified.
 * Truncation and modification are detected only at the end of the file.
 */
export async function* readArchive(path: string): AsyncGenerator<ArchivedChunk, { documents: number }> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${path} cannot be read (${error.code})`, { cause: error });
  });
  try {
    const hash = createHash('sha256');
    const next = documentsOf(file, path);
    const head = await next();
    if (head === null || mongo.BSON.deserialize(head)['tocsinBackup'] !== 1)
      throw new Error(`${path} is not a backup of a cluster`);
    hash.update(head);
    for (let documents = 0; ;) {
      const bytes = await next();
      if (bytes === null) throw cutOff(path);
      const part = mongo.BSON.deserialize(bytes) as Partial<ChunkHeader & End>;
      if (part.sha256 !== undefined) {
        if (part.sha256 !== hash.digest('hex') || (await next()) !== null)
          throw new Error(`${path} was modified: use another backup`);
        return { documents };
      }
      hash.update(bytes);
      const stretch: Uint8Array[] = [];
      for (let left = part.documents ?? 0; left > 0; left -= 1) {
        const document = await next();
        if (document === null) throw cutOff(path);
        hash.update(document);
        stretch.push(document);
      }
      documents += stretch.length;
      yield { collection: String(part.collection), documents: stretch };
    }
  } finally {
    await file.close();
  }
}

const cutOff = (path: string) => new Error(`${path} is truncated: use another backup`);

/** Reads one BSON document at a time; null at the end of the file. */
function documentsOf(file: FileHandle, path: string): () => Promise<Uint8Array | null> {
  let buffer = Buffer.alloc(0);
  const have = async (bytes: number): Promise<boolean> => {
    while (buffer.length < bytes) {
      const { bytesRead, buffer: more } = await file.read(Buffer.alloc(Math.max(bufferBytes, bytes - buffer.length)));
      if (bytesRead === 0) return false;
      buffer = Buffer.concat([buffer, more.subarray(0, bytesRead)]);
    }
    return true;
  };
  return async () => {
    if (!(await have(4))) {
      if (buffer.length > 0) throw cutOff(path);
      return null;
    }
    const length = buffer.readInt32LE(0);
    if (length < 5 || length > documentBytesMax)
      throw new Error(`${path} is not a backup of a cluster, or was modified`);
    if (!(await have(length))) throw cutOff(path);
    const document = buffer.subarray(0, length);
    buffer = buffer.subarray(length);
    return document;
  };
}
