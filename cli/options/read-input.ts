/** Limits memory use; larger than any message or secret. */
const inputBytesMax = 1024 * 1024;

/** Reads standard input to its end. Throws if it exceeds 1 MiB. */
export async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > inputBytesMax) throw new Error(`Standard input exceeds ${inputBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
