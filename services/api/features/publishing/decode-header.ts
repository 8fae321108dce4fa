const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** An encoded word of RFC 2047: charset, encoding, text. */
const encodedWord = /=\?([\w-]+)\?([bq])\?([^?]*)\?=/gi;

/**
 * Decodes a header value as its sender intended. Node decodes header bytes as latin1: valid UTF-8 is decoded again,
 * anything else stays latin1 (as browsers send). RFC 2047 encoded words are decoded; invalid ones stay unchanged.
 */
export function decodeHeader(value: string): string {
  const text = fromWireBytes(value);
  if (!text.includes('=?')) return text;
  let decoded = '';
  let from = 0;
  let followsWord = false;
  for (const match of text.matchAll(encodedWord)) {
    const word = decodeWord(match);
    const between = text.slice(from, match.index);
    // White space between two encoded words belongs to neither (RFC 2047 §6.2).
    if (!followsWord || word === null || between.trim() !== '') decoded += between;
    decoded += word ?? match[0];
    followsWord = word !== null;
    from = match.index + match[0].length;
  }
  return decoded + text.slice(from);
}

/** Decodes an encoded word; null if it is invalid. */
function decodeWord([, charset = '', encoding = '', content = '']: RegExpExecArray): string | null {
  const bytes = encoding.toLowerCase() === 'b' ? Buffer.from(content, 'base64') : fromQuoted(content);
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function fromWireBytes(value: string): string {
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  try {
    return utf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

function fromQuoted(content: string): Buffer {
  const bytes = content
    .replaceAll('_', ' ')
    .replaceAll(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}
