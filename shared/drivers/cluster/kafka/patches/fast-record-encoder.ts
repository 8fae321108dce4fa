import { Buffer } from 'node:buffer';
import { kafkajsFile, replaceKafkajsExport } from './kafkajs-internals.ts';

/** The part of kafkajs' Encoder that the patch uses. */
interface Encoder {
  buf: Buffer;
  offset: number;
}

interface RecordToEncode {
  readonly offsetDelta?: number;
  readonly timestampDelta?: number;
  readonly key?: unknown;
  readonly value?: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
}
type EncodeRecord = (record: RecordToEncode) => Encoder;

/**
 * Replaces the record encoder of kafkajs 2.2.4, which allocates a buffer for each number and each header: a record with
 * seven headers takes it about ten times as long. The bytes are the same. Records with other keys, values or headers
 * than Tocsin writes go to kafkajs' own encoder.
 *
 * Returns whether the patch was applied. It is not applied to versions with other internals, or if kafkajs has sent
 * records before.
 */
export function useFastRecordEncoder(): boolean {
  const encoder = kafkajsFile<{ readonly prototype: Encoder }>('protocol/encoder')?.prototype;
  if (encoder === undefined) return false;
  return replaceKafkajsExport<EncodeRecord>('protocol/recordBatch/record/v0/index', {
    usedBy: 'protocol/requests/produce/v3/request',
    replace: (former) => (record) => encodePlain(record, encoder) ?? former(record),
  });
}

/** Encodes a record with a text as its key, bytes as its value and texts as its headers; undefined for others. */
function encodePlain(
  { offsetDelta = 0, timestampDelta = 0, key, value, headers = {} }: RecordToEncode,
  encoder: Encoder,
): Encoder | undefined {
  if (typeof key !== 'string' || !Buffer.isBuffer(value) || !isInt32(timestampDelta)) return undefined;
  const texts: string[] = [];
  for (const [name, text] of Object.entries(headers)) {
    if (typeof text !== 'string') return undefined;
    texts.push(name, text);
  }
  const keySize = Buffer.byteLength(key);
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const attributesSize = 1;
  let bodySize =
    attributesSize +
    varIntSize(timestampDelta) +
    varIntSize(offsetDelta) +
    varIntSize(keySize) +
    keySize +
    varIntSize(value.length) +
    value.length +
    varIntSize(texts.length / 2);
  for (const size of sizes) bodySize += varIntSize(size) + size;
  const buffer = Buffer.allocUnsafe(varIntSize(bodySize) + bodySize);
  let at = writeVarInt(buffer, bodySize, 0);
  buffer[at++] = 0;
  at = writeVarInt(buffer, timestampDelta, at);
  at = writeVarInt(buffer, offsetDelta, at);
  at = writeVarInt(buffer, keySize, at);
  at += buffer.write(key, at);
  at = writeVarInt(buffer, value.length, at);
  at += value.copy(buffer, at);
  at = writeVarInt(buffer, texts.length / 2, at);
  for (let index = 0; index < texts.length; index += 1) {
    at = writeVarInt(buffer, sizes[index]!, at);
    at += buffer.write(texts[index]!, at);
  }
  return Object.assign(Object.create(encoder) as Encoder, { buf: buffer, offset: at });
}

const isInt32 = (value: number): boolean => (value | 0) === value;

const zigZag = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0;

function varIntSize(value: number): number {
  let size = 1;
  for (let rest = zigZag(value); rest >= 0x80; rest >>>= 7) size += 1;
  return size;
}

/** Returns the position after the number. */
function writeVarInt(buffer: Buffer, value: number, start: number): number {
  let at = start;
  let rest = zigZag(value);
  for (; rest >= 0x80; rest >>>= 7) buffer[at++] = (rest & 0x7f) | 0x80;
  buffer[at++] = rest;
  return at;
}
