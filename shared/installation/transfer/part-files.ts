import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { chunkItems } from '../../async/chunk-items.ts';
import { gunzipLines } from '../../async/gunzip-lines.ts';
import type { Row } from '../../ports/installation-rows.ts';
import { secretFileMode } from './manifest.ts';

const hashing = (hash: Hash): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });

/** Writes the rows as gzipped JSON lines, page by page; resolves with the file's count and checksums. */
export async function writePart(
  file: string,
  pages: AsyncIterable<readonly Row[]>,
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  const lines = async function* () {
    for await (const page of pages) yield page.map((row) => `${JSON.stringify(row)}\n`).join('');
  };
  await pipeline(
    Readable.from(lines()),
    createGzip(),
    hashing(hash),
    createWriteStream(file, { mode: secretFileMode, flush: true }),
  );
  return { sha256: hash.digest('hex'), bytes: (await stat(file)).size };
}

/** Returns the checksum of a file. */
export async function fileSha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Reads the rows of a part's file in pages. Throws if it is not gzip or a line is not a JSON object. */
export async function* readPart(file: string, pageSize: number): AsyncGenerator<Row[], void> {
  const lines = gunzipLines(createReadStream(file), file);
  for await (const page of chunkItems(lines, pageSize)) yield page.map((line) => parseLine(file, line));
}

function parseLine(file: string, line: string): Row {
  const row: unknown = JSON.parse(line);
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    throw new Error(`${file} has a line that is not a JSON object`);
  return row;
}
