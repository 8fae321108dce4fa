import { expect, test } from '@jest/globals';
import { parseTraceContext, traceOf, withTrace } from './trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const traceparent = `00-${traceId}-${spanId}-01`;

test('accepts a traceparent with its tracestate', () => {
  expect(parseTraceContext(traceparent)).toEqual({ traceparent });
  expect(parseTraceContext(traceparent, 'congo=t61rcWkgMzE,rojo=1')).toEqual({
    traceparent,
    tracestate: 'congo=t61rcWkgMzE,rojo=1',
  });
});

test('reads the known part of a later version', () => {
  expect(parseTraceContext(`cc-${traceId}-${spanId}-01-what-comes`)).toEqual({ traceparent });
  expect(parseTraceContext(`cc-${traceId}-${spanId}-01`)).toEqual({ traceparent });
});

test.each([
  undefined,
  null,
  7,
  ['x'],
  '',
  'nonsense',
  traceparent.toUpperCase(),
  `${traceparent}-more`,
  `${traceparent}, ${traceparent}`,
  `ff-${traceId}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId}-${spanId}`,
  `0-${traceId}-${spanId}-01`,
  ` ${traceparent}`,
  `${traceparent}\n`,
])('rejects the traceparent %j', (sent) => {
  expect(parseTraceContext(sent, 'a=b')).toBeUndefined();
});

test.each([undefined, 1, '', 'a=\n', 'a=ü', `a=${'b'.repeat(511)}`])('drops the tracestate %j', (tracestate) => {
  expect(parseTraceContext(traceparent, tracestate)).toEqual({ traceparent });
});

test('stores the context in the data of a job', () => {
  const job = { id: 'a', data: { kind: 'walk' } };
  expect(withTrace(job, undefined)).toBe(job);
  const carrying = withTrace(job, { traceparent, tracestate: 'a=b' });
  expect(carrying).toEqual({ id: 'a', data: { kind: 'walk', trace: { traceparent, tracestate: 'a=b' } } });
  expect(traceOf(carrying.data)).toEqual({ traceparent, tracestate: 'a=b' });
  for (const data of [{}, { trace: null }, { trace: 'x' }, { trace: {} }, { trace: { traceparent: 'x' } }])
    expect(traceOf(data)).toBeUndefined();
});
