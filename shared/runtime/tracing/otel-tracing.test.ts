import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { unavailable } from '../../domain/errors.ts';
import { openLogger, type Logger } from '../../platform/logger.ts';
import { RetryLater } from '../../ports/job-queue.ts';
import { eventually } from '../../testing/eventually.ts';
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

test('continues the given trace context in nested spans, and sends spans with the configured headers', async () => {
  await tracing.span(
    { name: 'outer', kind: 'server', parent: sampled, attributes: { 'http.route': '/{topic}' } },
    async (outer) => {
      outer.set({ 'http.response.status_code': 200 });
      await tracing.span({ name: 'inner', kind: 'internal' }, () => Promise.resolve());
    },
  );
  await tracing.close();
  // A close does not wait for long on a loaded machine.
  await eventually(() => expect(receiver.spans).toHaveLength(2));
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

test('links a consumer span to its parent, and starts a new trace without a context', async () => {
  await tracing.span({ name: 'outer', kind: 'internal' }, async () => {
    tracing.start({ name: 'known', kind: 'consumer', parent: sampled }).end();
    tracing.start({ name: 'unknown', kind: 'consumer', parent: null }).end();
  });
  await tracing.close();
  await eventually(() => expect(receiver.spans).toHaveLength(3));
  const [known, unknown, outer] = receiver.spans;
  expect(known).toMatchObject({ traceId, parentSpanId: spanId, links: [{ traceId, spanId }] });
  expect(unknown).toMatchObject({ parentSpanId: '', links: [] });
  expect(new Set([known, unknown, outer].map((span) => span!.traceId)).size).toBe(3);
});

test('records the kind of a failure without its message, and no failure for a retry', async () => {
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

test("propagates the span's context, or the context that the span was given to propagate", async () => {
  expect(tracing.contextForJobs()).toBeUndefined();
  await tracing.span({ name: 'request', kind: 'server', parent: null }, async (span) => {
    expect(tracing.contextForJobs()).toEqual(span.context);
    await tracing.span({ name: 'job', kind: 'consumer', parent: sampled, propagated: sampled }, () =>
      tracing.span({ name: 'page', kind: 'internal' }, async () => expect(tracing.contextForJobs()).toEqual(sampled)),
    );
  });
});

test('adds span IDs to log lines within a span and not after its end', async () => {
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

test('drops traces that the caller does not sample and propagates their context', async () => {
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
] as const)('the sampler %s at %d keeps %d of new traces', async (sampler, ratio, kept) => {
  open({ sampler, ratio });
  tracing.start({ name: 'request', kind: 'server', parent: null }).end();
  await tracing.close();
  expect(receiver.spans).toHaveLength(kept);
});

test('logs once that the collector rejects spans, without other effects', async () => {
  await receiver.close();
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '500'; // the exporter retries until then
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
      msg: expect.stringContaining('rejects spans'),
      collector: expect.stringMatching(/\/v1\/traces$/),
    }),
  ]);
});
