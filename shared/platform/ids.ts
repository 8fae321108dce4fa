import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from './clock.ts';

/** Makes UUIDv7s (RFC 9562) that grow strictly, also within a millisecond and when the clock steps back. */
export type MakeId = () => string;

const hex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Random bytes are drawn a block at a time: a call to the kernel per id would cost more than the rest of it. */
const randomBlockBytes = 8 * 512;

/** A source of ids of one process. The 12 bits after the time are a counter, 62 bits are random. */
export function idSource(clock: Clock): MakeId {
  let lastMs = 0;
  let counter = 0;
  let block = randomBytes(randomBlockBytes);
  let used = 0;
  return () => {
    const now = clock();
    if (now > lastMs) {
      lastMs = now;
      counter = 0;
    } else if (++counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
    if (used === randomBlockBytes) {
      block = randomBytes(randomBlockBytes);
      used = 0;
    }
    const time = lastMs.toString(16).padStart(12, '0');
    const at = (index: number) => hex[block[used + index]!]!;
    const variant = hex[(block[used]! & 0x3f) | 0x80]!;
    const id = `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${variant}${at(1)}-${at(2)}${at(3)}${at(4)}${at(5)}${at(6)}${at(7)}`;
    used += 8;
    return id;
  };
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return uuidForm.test(text);
}

/** The time inside a UUIDv7 in milliseconds since the epoch, or null when the text is none. */
export function timeOfId(text: string): number | null {
  if (!uuidForm.test(text) || text[14] !== '7') return null;
  return Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16);
}

/** A random UUID for things whose order means nothing (connections, requests). */
export const randomId: MakeId = () => randomUUID();
