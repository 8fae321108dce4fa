import { once } from 'node:events';

/** Writes a line to standard output with backpressure. Exits with 0 if the reader closes the pipe. */
export async function printLine(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
}

// `tocsin subscribe … | head -1`
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

/** Formats a message with its title, if it has one. */
export function asText({ title, message }: { readonly title: string | null; readonly message: string }): string {
  return title === null ? message : `${title}: ${message}`;
}

/**
 * Makes a text safe for a terminal: anyone may publish, and control characters could clear the screen or overwrite
 * it. Keeps line breaks and indents the following lines, so that no text looks like another message.
 */
export function forTerminal(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
    .replaceAll('\n', '\n    ');
}
