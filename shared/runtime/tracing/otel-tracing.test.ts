import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { unavailable } from '../../domain/errors.ts';
import { openLogger, type Logger } from '../../platform/logger.ts';
import { RetryLater } from '../../ports/job-queue.ts';
import { startOtlpReceiver, type OtlpReceiver } from '../../testing/start-otlp-receiver.ts';
import { otelTracing } from './otel-tracing.ts';
import type { TracingSettings } from './tracing-settings.ts';
import type { Tracing } from './tracing.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const sampled = { traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'congo=t61rcWkgMzE' };

let receiver: OtlpReceiver;
let lines: Record<string, unknown>[];
let log: Logger;
let tracing: Tracing;
beforeEach(async () => {
  receiver = await startOtlpReceiver();
  lines = [];
  log = openLogger('test', 'info', keeping(lines), () => tracing.logFields());
  open();
});
afterEach(async () => {
  await tracing.close();
  await receiver.close();
});

function open(given: Partial<TracingSettings> = {}): void {
  tracing = otelTracing(
    {
      url: `${receiver.url}/v1/traces`,
      headers: { 'x-key': 'let me in' },
      resource: { 'service.name': 'tocsin-test' },
      sampler: 'parentbased_always_on',
      ratio: 1,
      ...given,
    },
    log,
  );
}

function keeping(into: Record<string, unknown>[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      into.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
}

test('a span goes on from the context that it is given, and what is begun within it from there, to the collector and with its headers', async () => {
  await tracing.span(
    { name: 'outer', kind: 'server', parent: sampled, attributes: { 'http.route': '/{topic}' } },
    async (outer) => {
      outer.set({ 'http.response.status_code': 200 });
      await tracing.span({ name: 'inner', kind: 'internal' }, () => Promise.resolve());
    },
  );
  await tracing.close();
  const [inner, outer] = receiver.spans;
  expect(outer).toMatchObject({
    name: 'outer',
    kind: 'server',
    traceId,
    parentSpanId: spanId,
    traceState: 'congo=t61rcWkgMzE',
    links: [],
    isFailed: false,
    attributes: { 'http.route': '/{topic}', 'http.response.status_code': 200 },
    resource: {
      'service.name': 'tocsin-test',
      'telemetry.sdk.name': 'opentelemetry',
      'service.instance.id': expect.any(String),
    },
  });
  expect(inner).toMatchObject({ name: 'inner', kind: 'internal', traceId, parentSpanId: outer!.spanId });
  expect(inner!.startedAt).toBeGreaterThanOrEqual(outer!.startedAt);
  expect(receiver.headers[0]).toMatchObject({ 'x-key': 'let me in' });
});

test('a consumer is linked to its parent; with no context it begins a trace, whatever is active', async () => {
  await tracing.span({ name: 'outer', kind: 'internal' }, async () => {
    tracing.start({ name: 'known', kind: 'consumer', parent: sampled }).end();
    tracing.start({ name: 'unknown', kind: 'consumer', parent: null }).end();
  });
  await tracing.close();
  const [known, unknown, outer] = receiver.spans;
  expect(known).toMatchObject({ traceId, parentSpanId: spanId, links: [{ traceId, spanId }] });
  expect(unknown).toMatchObject({ parentSpanId: '', links: [] });
  expect(new Set([known, unknown, outer].map((span) => span!.traceId)).size).toBe(3);
});

test('of a failure the kind is told and not the words, and what is to come again later is none', async () => {
  const failing = (error: Error) =>
    tracing
      .span({ name: error.name, kind: 'internal' }, () => Promise.reject(error))
      .catch((caught: unknown) => caught);
  expect(await failing(unavailable('Log'))).toMatchObject({ code: 'unavailable' });
  await failing(new TypeError('the text of a message'));
  await failing(new RetryLater(1_000, 'not stored yet'));
  await tracing.close();
  expect(receiver.spans.map(({ isFailed, attributes }) => [isFailed, attributes])).toEqual([
    [true, { 'error.type': 'unavailable' }],
    [true, { 'error.type': 'TypeError' }],
    [false, { 'tocsin.put_off': true }],
  ]);
});

test('what is made within a span carries it on, or what the span was told to hand on', async () => {
  expect(tracing.handOn()).toBeUndefined();
  await tracing.span({ name: 'request', kind: 'server', parent: null }, async (span) => {
    expect(tracing.handOn()).toEqual(span.context);
    await tracing.span({ name: 'job', kind: 'consumer', parent: sampled, handsOn: sampled }, () =>
      tracing.span({ name: 'page', kind: 'internal' }, async () => expect(tracing.handOn()).toEqual(sampled)),
    );
  });
});

test('a log line within a span bears its ids, and one behind its end does not', async () => {
  const late = Promise.withResolvers<void>();
  let behind: Promise<void> | undefined;
  const { context } = await tracing.span({ name: 'request', kind: 'server', parent: sampled }, async (span) => {
    log.info('within');
    behind = late.promise.then(() => log.info('behind'));
    return span;
  });
  late.resolve();
  await behind;
  expect(lines.map(({ msg, trace_id, span_id, trace_flags }) => [msg, trace_id, span_id, trace_flags])).toEqual([
    ['within', traceId, context.traceparent.split('-')[2], '01'],
    ['behind', undefined, undefined, undefined],
  ]);
});

test('what the caller does not keep is not kept, and its context goes on', async () => {
  const unsampled = { traceparent: `00-${traceId}-${spanId}-00` };
  const span = tracing.start({ name: 'request', kind: 'server', parent: unsampled });
  expect(span.context.traceparent).toMatch(new RegExp(`^00-${traceId}-(?!${spanId})[0-9a-f]{16}-00$`));
  span.end();
  await tracing.close();
  expect(receiver.spans).toEqual([]);
});

test.each([
  ['always_on', 1, 1],
  ['always_off', 1, 0],
  ['traceidratio', 0, 0],
  ['traceidratio', 1, 1],
  ['parentbased_always_on', 1, 1],
  ['parentbased_always_off', 1, 0],
  ['parentbased_traceidratio', 0, 0],
] as const)('the sampler %s at %d keeps %d of a trace that begins here', async (sampler, ratio, kept) => {
  open({ sampler, ratio });
  tracing.start({ name: 'request', kind: 'server', parent: null }).end();
  await tracing.close();
  expect(receiver.spans).toHaveLength(kept);
});

test('the log tells once that the collector takes no spans, and nobody notices otherwise', async () => {
  await receiver.close();
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '500'; // the exporter tries again for so long
  try {
    open({ url: `${receiver.url}/v1/traces?key=secret` });
    for (let n = 0; n < 600; n += 1) tracing.start({ name: 'request', kind: 'server', parent: null }).end();
    await tracing.close();
  } finally {
    delete process.env['OTEL_EXPORTER_OTLP_TIMEOUT'];
    receiver = await startOtlpReceiver();
  }
  expect(lines).toEqual([
    expect.objectContaining({
      level: 'warn',
      msg: expect.stringContaining('takes no spans'),
      collector: expect.stringMatching(/\/v1\/traces$/),
    }),
  ]);
});
