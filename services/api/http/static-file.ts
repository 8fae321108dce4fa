import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { RequestContext } from './route.ts';

/** A file that browsers get, as it is sent. */
export interface StaticFile {
  readonly contentType: string;
  readonly bytes: Buffer;
  /** Changes with the content. */
  readonly etag: string;
  readonly cacheControl: string;
  /** Compressed when it is first asked for. */
  gzipped(): Buffer;
}

/** Asked for each time, and answered with 304 while it is the same: files of one page never are of different versions. */
export const revalidated = 'no-cache';

/** For a document that changes with the program: for five minutes a browser or a proxy need not ask again. */
export const keptBriefly = 'public, max-age=300';

/** For a file whose name changes with its content. */
export const kept = `public, max-age=${365 * 86_400}, immutable`;

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The content under the name, whose ending says what it is. It is sent from memory, so that no path is ever made of what a
 * request says. Throws for an ending without a content type.
 */
export function staticFile(name: string, content: Buffer | string, cacheControl: string): StaticFile {
  const contentType = contentTypes[extname(name)];
  if (contentType === undefined) throw new Error(`${name}: no content type is known for it`);
  const bytes = Buffer.from(content);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  let gzipped: Buffer | undefined;
  return { contentType, bytes, etag, cacheControl, gzipped: () => (gzipped ??= gzipSync(bytes)) };
}

/** Reads a file. Throws when it is not there. */
export function readStaticFile(path: string, cacheControl: string): StaticFile {
  return staticFile(path, readFileSync(path), cacheControl);
}

/** Answers with the file: 304 to a browser that has it already, compressed to one that takes that. */
export function sendStaticFile(
  { request, response }: RequestContext,
  file: StaticFile,
  headers: Readonly<Record<string, string>> = {},
): null {
  for (const [name, value] of Object.entries({
    ...headers,
    ETag: file.etag,
    'Cache-Control': file.cacheControl,
    Vary: 'Accept-Encoding',
  })) {
    response.setHeader(name, value);
  }
  if (isKnown(request.headers['if-none-match'], file.etag)) {
    response.statusCode = 304;
    response.end();
    return null;
  }
  const isGzip = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(request.headers['accept-encoding'] ?? ''));
  const body = isGzip ? file.gzipped() : file.bytes;
  if (isGzip) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Type', file.contentType);
  response.setHeader('Content-Length', body.length);
  response.end(body);
  return null;
}

/** Compared weakly, as RFC 9110 §13.1.2 has it: a proxy that compresses makes a tag weak. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
