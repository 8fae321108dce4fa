import { once } from 'node:events';

/** Writes a line to standard output, at the pace of whoever reads it. Ends this process, as done, when nobody reads any more. */
export async function printLine(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
}

// `tocsin subscribe … | head -1`
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

/** A message in a line, with its title where it has one. */
export function asText({ title, message }: { readonly title: string | null; readonly message: string }): string {
  return title === null ? message : `${title}: ${message}`;
}

/**
 * A text as it may be shown on a terminal: anyone may publish, and a control character there could clear the screen or
 * rewrite what stands on it. Line breaks stay, and what follows them is indented, so that no text looks like another message.
 */
export function forTerminal(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
    .replaceAll('\n', '\n    ');
}
