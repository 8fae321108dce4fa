import type { IncomingMessage } from 'node:http';
import { AppError } from '@tocsin/shared/domain/errors.ts';

/** Harm prevented: a body of any size in memory. Messages and JSON alike. */
export const bodyBytesMax = 64 * 1024;

const tooLarge = () => new AppError('too_large', `The body must be at most ${bodyBytesMax} bytes`);

/** Whether the request says that its body is beyond what is read of one. */
export function announcesTooMuch(request: IncomingMessage): boolean {
  return Number(request.headers['content-length'] ?? 0) > bodyBytesMax;
}

/**
 * Reads the whole body. Throws AppError `too_large` beyond 64 KiB, without reading on, and `invalid` when the client
 * went away half-way.
 */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  if (announcesTooMuch(request)) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const cutOff = (cause?: unknown) => {
      // Every request closes; an error with its stack is made only for those that had not ended.
      if (!request.readableEnded) reject(new AppError('invalid', 'The body was cut off', { cause }));
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

/** Decodes UTF-8, byte for byte (a BOM is kept). Throws `unprocessable` naming the field when it is not valid. */
export function decodeUtf8(bytes: Buffer, field: string): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new AppError('unprocessable', `${field}: must be valid UTF-8`, { cause });
  }
}

/**
 * Parses a JSON body. Throws `unsupported_media_type` for another content type (none counts as JSON),
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
 * Parses JSON whatever the content type. A body without a byte is an object without a field, so that what it lacks is named, and a
 * PATCH without one changes nothing. Throws `invalid` for malformed JSON.
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
