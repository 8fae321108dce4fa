/** Limits the memory for a text without line breaks. Far above any stored message or document. */
const lineCharsMax = 16 * 1024 * 1024;

/**
 * Splits text into its lines, without their line breaks. `name` is that of the text in errors. Throws for a line that
 * is too long, and if the text ends within a line, as a truncated file does.
 */
export async function* splitLines(text: AsyncIterable<string>, name: string): AsyncGenerator<string, void> {
  let rest = '';
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    if (rest.length > lineCharsMax) throw new Error(`${name} has a line of more than ${lineCharsMax} characters`);
    yield* lines;
  }
  if (rest !== '') throw new Error(`${name} ends within a line`);
}
