import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { RequestContext } from './route.ts';

/** A static file for browsers. */
export interface StaticFile {
  readonly contentType: string;
  readonly bytes: Buffer;
  /** Changes with the content. */
  readonly etag: string;
  readonly cacheControl: string;
  /** Compressed at the first request. */
  gzipped(): Buffer;
  /** The same bytes compressed at build time, which takes too long for a request. */
  readonly brotli?: Buffer;
}

/** Revalidated each time, with 304 while unchanged, so that the files of a page always have the same version. */
export const revalidated = 'no-cache';

/** For a document that changes with the program: cacheable for five minutes. */
export const keptBriefly = 'public, max-age=300';

/** For a file whose name changes with its content. */
export const kept = `public, max-age=${365 * 86_400}, immutable`;

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};

/**
 * Creates a file from its content; the extension determines the content type. Files are sent from memory, so that
 * requests never form paths. Throws for an unknown extension.
 */
export function staticFile(name: string, content: Buffer | string, cacheControl: string): StaticFile {
  const contentType = contentTypes[extname(name)];
  if (contentType === undefined) throw new Error(`${name}: unknown content type`);
  const bytes = Buffer.from(content);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  let gzipped: Buffer | undefined;
  return { contentType, bytes, etag, cacheControl, gzipped: () => (gzipped ??= gzipSync(bytes)) };
}

/** Reads a file. Throws if it does not exist. */
export function readStaticFile(path: string, cacheControl: string): StaticFile {
  return staticFile(path, readFileSync(path), cacheControl);
}

/** Sends the file: 304 to a browser with the current version, compressed if accepted. */
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
  const [encoding, body] = encode(file, String(request.headers['accept-encoding'] ?? ''));
  if (encoding !== null) response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Type', file.contentType);
  response.setHeader('Content-Length', body.length);
  response.end(body);
  return null;
}

/** Returns the best accepted encoding, null for none, and the encoded bytes. */
function encode(file: StaticFile, accepted: string): ['br' | 'gzip' | null, Buffer] {
  if (file.brotli !== undefined && accepts(accepted, 'br')) return ['br', file.brotli];
  return accepts(accepted, 'gzip') ? ['gzip', file.gzipped()] : [null, file.bytes];
}

function accepts(accepted: string, encoding: string): boolean {
  return new RegExp(String.raw`\b${encoding}\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))`, 'i').test(accepted);
}

/** Weak comparison (RFC 9110 §13.1.2): a compressing proxy makes a tag weak. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
