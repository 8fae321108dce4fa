import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Limits the memory for a text without line breaks. Far above any stored message or document. */
const lineCharsMax = 16 * 1024 * 1024;

/**
 * Returns the lines of a compressed text without their line breaks. `name` is that of the text in errors. Throws if
 * the source is not compressed, for a line that is too long, and if the text ends within a line, as a truncated file
 * does; rethrows errors of the source.
 */
export async function* gunzipLines(source: Readable, name: string): AsyncGenerator<string, void> {
  const text = source.pipe(createGunzip());
  source.on('error', (error) => text.destroy(error));
  try {
    yield* splitLines(text.setEncoding('utf8') as AsyncIterable<string>, name);
  } finally {
    source.destroy();
  }
}

async function* splitLines(text: AsyncIterable<string>, name: string): AsyncGenerator<string, void> {
  let rest = '';
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    if (rest.length > lineCharsMax) throw new Error(`${name} has a line of more than ${lineCharsMax} characters`);
    yield* lines;
  }
  if (rest !== '') throw new Error(`${name} ends within a line`);
}
