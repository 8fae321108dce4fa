import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { splitLines } from '../../async/split-lines.ts';
import type { StoredMessage } from '../../domain/messages/message.ts';
import { parseArchiveLine } from './archived-message.ts';

/** Reads the messages of a compressed object. Throws if it is damaged; rethrows errors of the body. */
export async function* readArchivedMessages(
  body: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<StoredMessage, void> {
  const source = Readable.from(body);
  const text = source.pipe(createGunzip());
  source.on('error', (error) => text.destroy(error));
  try {
    const lines = splitLines(text.setEncoding('utf8') as AsyncIterable<string>, name);
    for await (const line of lines) yield parseArchiveLine(line);
  } finally {
    source.destroy();
  }
}
