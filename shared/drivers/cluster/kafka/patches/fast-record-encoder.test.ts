import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { useFastRecordEncoder } from './fast-record-encoder.ts';

type Encode = (record: object) => { readonly buffer: Buffer };

const load = createRequire(import.meta.url);
const encoder = (): Encode => load('kafkajs/src/protocol/recordBatch/record/v0/index') as Encode;
const { ofKafkajs, isReplaced, fast, isKept, kept } = onNewKafkajs(() => ({
  ofKafkajs: encoder(),
  isReplaced: useFastRecordEncoder(),
  fast: encoder(),
  isKept: useFastRecordEncoder(),
  kept: encoder(),
}));

/** Other files of the process may have replaced the encoder. They keep their modules of kafkajs. */
function onNewKafkajs<T>(act: () => T): T {
  const ofOthers = takeKafkajs();
  try {
    return act();
  } finally {
    takeKafkajs();
    Object.assign(load.cache, ofOthers);
  }
}

/** Removes the modules of kafkajs from those that are loaded. */
function takeKafkajs(): NodeJS.Dict<NodeJS.Module> {
  const taken = Object.entries(load.cache).filter(([file]) => file.includes('/node_modules/kafkajs/'));
  for (const [file] of taken) delete load.cache[file];
  return Object.fromEntries(taken);
}

const plain = {
  key: 'topic',
  value: Buffer.from('{"message":"é"}'),
  headers: { ce_type: 'tocsin', 'content-type': '…' },
};
const records: [string, object][] = [
  ['plain', plain],
  ['empty', { key: '', value: Buffer.alloc(0), headers: {} }],
  ['without headers', { key: 'topic', value: Buffer.from('x') }],
  ['with lengths at the limits of a byte', sizesAround(64, 8_192, 1_048_576)],
  ['later in its batch', { ...plain, offsetDelta: 70_000, timestampDelta: 2 ** 31 - 1 }],
  ['earlier than its batch', { ...plain, timestampDelta: -70_000 }],
  ['years after its batch', { ...plain, timestampDelta: 2 ** 40 }],
  ['beyond the integers of a double', { ...plain, timestampDelta: 2 ** 60 }],
  ['a tombstone', { ...plain, value: null }],
  ['without a key', { ...plain, key: null }],
  ['with bytes as key and header', { ...plain, key: Buffer.from([0, 255]), headers: { a: Buffer.from([255]) } }],
  ['with a repeated header', { ...plain, headers: { a: ['1', '2'], b: '3' } }],
  ['with a header named like a property', { ...plain, headers: { toString: '1', valueOf: '2' } }],
  ['with a header named __proto__', { ...plain, headers: JSON.parse('{"__proto__":"1"}') as object }],
];

function sizesAround(...sizes: number[]): object {
  const around = sizes.flatMap((size) => [size - 1, size]);
  const headers = Object.fromEntries(around.map((size) => [`h${size}`, 'é'.repeat(size / 2)]));
  return { key: 'k'.repeat(63), value: Buffer.alloc(64, 'v'), headers };
}

test('replaces the encoder once', () => {
  expect(isReplaced).toBe(true);
  expect(fast).not.toBe(ofKafkajs);
  expect(isKept).toBe(true);
  expect(kept).toBe(fast);
});

test.each(records)('writes the same bytes as kafkajs: a record %s', (_, record) => {
  expect(fast(record).buffer.equals(ofKafkajs(record).buffer)).toBe(true);
});
