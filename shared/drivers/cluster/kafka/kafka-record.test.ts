import { expect, test } from '@jest/globals';
import { testRecord } from '../../../contracts/event-log/event-log.fixtures.ts';
import { decodeKafkaRecord, encodeKafkaRecord } from './kafka-record.ts';

const trace = {
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  tracestate: 'congo=t61rcWkgMzE',
};

test('writes the trace to the standard headers, and none without a trace', () => {
  const { trace: _, ...untraced } = { ...testRecord(), trace };
  expect(encodeKafkaRecord({ ...untraced, trace }, 'alarms').headers).toMatchObject({
    ce_specversion: '1.0',
    ...trace,
  });
  expect(Object.keys(encodeKafkaRecord(untraced, 'alarms').headers).sort()).toEqual([
    'ce_id',
    'ce_source',
    'ce_specversion',
    'ce_time',
    'ce_type',
    'content-type',
  ]);
});

test('accepts a valid foreign trace and ignores an invalid one', () => {
  const record = testRecord();
  const { value, headers } = encodeKafkaRecord(record, 'alarms');
  const read = (more: Record<string, string | Buffer>) =>
    decodeKafkaRecord({ value, headers: { ...headers, ...more } });
  expect(read({ traceparent: Buffer.from(trace.traceparent) })).toEqual({
    ...record,
    trace: { traceparent: trace.traceparent },
  });
  expect(read({ traceparent: 'nonsense', tracestate: 'a=b' })).toEqual(record);
  expect(read({ tracestate: 'a=b' })).toEqual(record);
});

test('carries the node that waits for the message, and ignores other values', () => {
  const waitingNode = '0199a1de-0000-7000-8000-000000000001';
  const record = testRecord();
  const { value, headers } = encodeKafkaRecord({ ...record, waitingNode }, 'alarms');
  expect(decodeKafkaRecord({ value, headers })).toEqual({ ...record, waitingNode });
  expect(decodeKafkaRecord({ value, headers: { ...headers, 'tocsin-node': 'nonsense' } })).toEqual(record);
});
