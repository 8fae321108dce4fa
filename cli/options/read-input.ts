/** Harm prevented: a file or stream without an end, led here by mistake, filling the memory. More than any message or secret has. */
const inputBytesMax = 1024 * 1024;

/** What standard input holds, to its end. Throws, and reads no further, where it is longer than 1 MiB. */
export async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > inputBytesMax)
      throw new Error(`Standard input holds more than ${inputBytesMax} bytes: that is not what is read here`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
