import type { IncomingMessage } from 'node:http';
import { AppError } from '@tocsin/shared/domain/errors.ts';

/** Limits the memory per body, for messages and JSON. */
export const bodyBytesMax = 64 * 1024;

const tooLarge = () => new AppError('too_large', `The body must be at most ${bodyBytesMax} bytes`);

/** Whether the announced length of the body exceeds the limit. */
export function announcesTooMuch(request: IncomingMessage): boolean {
  return Number(request.headers['content-length'] ?? 0) > bodyBytesMax;
}

/**
 * Reads the whole body. Throws AppError `too_large` beyond 64 KiB, without reading further, and `invalid` if the client
 * disconnected.
 */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  if (announcesTooMuch(request)) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const cutOff = (cause?: unknown) => {
      // Every request emits `close`; create an error with its stack only for incomplete ones.
      if (!request.readableEnded) reject(new AppError('invalid', 'The body is incomplete', { cause }));
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyBytesMax) {
        request.pause();
        reject(tooLarge());
        return;
      }
      chunks.push(chunk);
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.on('error', cutOff);
    request.on('close', cutOff);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8 exactly (keeps a BOM). Throws `unprocessable` naming the field if it is invalid. */
export function decodeUtf8(bytes: Buffer, field: string): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new AppError('unprocessable', `${field}: must be valid UTF-8`, { cause });
  }
}

/**
 * Parses a JSON body. Throws `unsupported_media_type` for another content type (absent counts as JSON) and
 * `invalid` for malformed JSON.
 */
export function parseJsonBody(bytes: Buffer, contentType: string | undefined): unknown {
  const type = (contentType ?? '').split(';')[0]!.trim().toLowerCase();
  if (type !== '' && type !== 'application/json' && !type.endsWith('+json')) {
    throw new AppError('unsupported_media_type', 'Send the body as Content-Type: application/json');
  }
  return parseJson(bytes);
}

/**
 * Parses JSON of any content type. An empty body counts as an empty object, so that missing fields are named and an
 * empty PATCH has no effect. Throws `invalid` for malformed JSON.
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  try {
    return JSON.parse(decodeUtf8(bytes, 'body'));
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('invalid', 'The body is not valid JSON', { cause });
  }
}
