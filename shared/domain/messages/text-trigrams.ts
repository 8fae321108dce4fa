/** 32,768 bits, of which the longest message sets a tenth at most. */
const bitsLog = 15;
const mask = (1 << bitsLog) - 1;

/** Returns the hashes of all sequences of three code units of the text; empty for shorter texts. */
export function trigramsOf(text: string): Uint16Array {
  const hashes = new Uint16Array(Math.max(text.length - 2, 0));
  for (let at = 0; at < hashes.length; at += 1)
    hashes[at] = (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & mask;
  return hashes;
}

/** The trigrams of texts: a quick check that rules out most other texts. */
export class TextTrigrams {
  readonly #bits = new Uint32Array(1 << (bitsLog - 5));

  constructor(texts: readonly string[]) {
    for (const text of texts) for (const hash of trigramsOf(text)) this.#bits[hash >>> 5]! |= 1 << (hash & 31);
  }

  /** False only if no text contains the one with these trigrams. */
  mayContain(trigrams: Uint16Array): boolean {
    for (const hash of trigrams) if ((this.#bits[hash >>> 5]! & (1 << (hash & 31))) === 0) return false;
    return true;
  }
}
