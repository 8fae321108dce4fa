import { randomBytes, randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Clock } from './clock.ts';

/** Creates strictly increasing UUIDv7s (RFC 9562), even within a millisecond and if the clock steps back. */
export type MakeId = () => string;

const hex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Random bytes are read in blocks, because a system call per ID would dominate the cost. */
const randomBlockBytes = 8 * 512;

/** Generates the IDs of one process. The 12 bits after the time are a counter; 62 bits are random. */
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

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/** Returns the time of a UUIDv7 in milliseconds since the epoch, or null for other texts. */
export function timeOfId(text: string): number | null {
  if (!uuidPattern.test(text) || text[14] !== '7') return null;
  return Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16);
}

/** Returns a random UUID for unordered things (connections, requests). */
export const randomId: MakeId = () => randomUUID();

/** Returns the CRC-32 of an ID, for comparisons in which another ID with the same one does no harm. */
export const checksumOf = (id: string): number => crc32(id);
