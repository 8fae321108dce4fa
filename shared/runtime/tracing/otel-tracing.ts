import { AsyncLocalStorage } from 'node:async_hooks';
import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as OtelSpan,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import { AppError } from '../../domain/errors.ts';
import type { TraceContext } from '../../domain/trace-context.ts';
import type { Logger } from '../../platform/logger.ts';
import { settledWithin } from '../../async/settled-within.ts';
import { RetryLater } from '../../ports/job-queue.ts';
import type { Span, SpanOptions, Tracing } from './tracing.ts';
import type { SamplerName, TracingSettings } from './tracing-settings.ts';

/** Spans that wait to be sent, some 2 kB each; what comes beyond is lost. Harm prevented: a collector that hangs would fill the memory. */
const waitingMax = 4_096;
/** Within the 30 seconds that a shutdown has. */
const closeMsMax = 2_000;
/** Harm prevented: a line for each batch while the collector is away. */
const logEveryMs = 60_000;

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** Where what is run now stands. */
interface Active {
  readonly spanContext: SpanContext;
  readonly handsOn: TraceContext | undefined;
  /** What goes on behind it, as a stream does, is no part of it any more: log lines of that do not name it. */
  isOver: boolean;
}

/** Tracing by OpenTelemetry's SDK, to a collector by OTLP over HTTP. Nothing of it is global: several can be in one process. */
export function otelTracing(settings: TracingSettings, log: Logger): Tracing {
  const exporter = new OTLPTraceExporter({ url: settings.url, headers: settings.headers });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(detectResources({ detectors: [serviceInstanceIdDetector] }))
      .merge(resourceFromAttributes(settings.resource)),
    sampler: samplerOf(settings.sampler, settings.ratio),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: tellingOfLoss(exporter, { url: settings.url, log }),
        maxQueueSize: waitingMax,
      }),
    ],
  });
  return new OtelTracing(provider);
}

class OtelTracing implements Tracing {
  readonly isOn = true;
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #active = new AsyncLocalStorage<Active>();

  constructor(provider: TracerProvider) {
    this.#provider = provider;
    this.#tracer = provider.getTracer('tocsin');
  }

  start(options: SpanOptions): OpenSpan {
    const { name, kind, attributes = {}, parent } = options;
    const active = this.#active.getStore();
    const above = parent === undefined ? active?.spanContext : parent === null ? undefined : toSpanContext(parent);
    // Consumers are linked to what made their message, whether or not it is the parent as well (semantic conventions of messaging).
    const links = kind === 'consumer' && above !== undefined ? [{ context: above }] : [];
    const span = this.#tracer.startSpan(name, { kind: kinds[kind], attributes, links }, contextOf(above));
    return new OpenSpan(span, options.handsOn ?? (parent === undefined ? active?.handsOn : undefined));
  }

  within<T>(span: OpenSpan, run: () => T): T {
    return this.#active.run(span.active, run);
  }

  async span<T>(options: SpanOptions, run: (span: Span) => Promise<T>): Promise<T> {
    const span = this.start(options);
    try {
      const result = await this.within(span, () => run(span));
      span.end();
      return result;
    } catch (error) {
      span.end(error);
      throw error;
    }
  }

  handOn(): TraceContext | undefined {
    const active = this.#active.getStore();
    return active === undefined ? undefined : (active.handsOn ?? toTraceContext(active.spanContext));
  }

  logFields(): Readonly<Record<string, string>> {
    const active = this.#active.getStore();
    if (active === undefined || active.isOver) return {};
    const { traceId, spanId, traceFlags } = active.spanContext;
    return { trace_id: traceId, span_id: spanId, trace_flags: flagsOf(traceFlags) };
  }

  /** What cannot be sent in time is lost, and that was told of. */
  async close(): Promise<void> {
    await settledWithin(closeMsMax, [this.#provider.shutdown()]);
  }
}

class OpenSpan implements Span {
  readonly active: Active;
  /** Let go at the end: what began within it may hold on to `active` for as long as a stream lasts. */
  #span: OtelSpan | undefined;
  #context: TraceContext | undefined;

  constructor(span: OtelSpan, handsOn: TraceContext | undefined) {
    this.#span = span;
    this.active = { spanContext: span.spanContext(), handsOn, isOver: false };
  }

  get context(): TraceContext {
    return (this.#context ??= toTraceContext(this.active.spanContext));
  }

  set(attributes: Readonly<Record<string, string | number | boolean>>): void {
    this.#span?.setAttributes(attributes);
  }

  end(failure?: unknown): void {
    const span = this.#span;
    if (span === undefined) return;
    if (failure instanceof RetryLater)
      span.setAttribute('tocsin.put_off', true); // it waits for something, and has not failed
    else if (failure !== undefined)
      span.setAttribute('error.type', kindOf(failure)).setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    this.active.isOver = true;
    this.#span = undefined;
  }
}

/** What `error.type` says: one of few words. The words of an error may hold a text or a name. */
function kindOf(failure: unknown): string {
  if (typeof failure === 'string') return failure;
  if (failure instanceof AppError) return failure.code;
  return failure instanceof Error ? failure.name : '_OTHER';
}

const contextOf = (above: SpanContext | undefined): Context =>
  above === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, above);

const flagsOf = (traceFlags: number): string => traceFlags.toString(16).padStart(2, '0');

function toTraceContext({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${flagsOf(traceFlags)}`;
  const tracestate = traceState?.serialize() ?? '';
  return tracestate === '' ? { traceparent } : { traceparent, tracestate };
}

/** Takes what `parseTraceContext` let through. */
function toSpanContext({ traceparent, tracestate }: TraceContext): SpanContext {
  const [, traceId, spanId, flags] = traceparent.split('-') as [string, string, string, string];
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  };
}

function samplerOf(name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

/** The exporter; the log tells when its collector takes no spans, once a minute, and when it takes them again. */
function tellingOfLoss(exporter: OTLPTraceExporter, { url, log }: { url: string; log: Logger }): SpanExporter {
  let lost = 0;
  let loggedAt = -Infinity;
  const onFailure = (spans: number, error: Error | undefined): void => {
    lost += spans;
    if (performance.now() - loggedAt < logEveryMs) return;
    loggedAt = performance.now();
    log.warn(
      { err: error, collector: withoutSecrets(url), lost },
      'the collector of traces takes no spans, they are lost; nothing else suffers from it',
    );
  };
  const onSuccess = (): void => {
    if (lost === 0) return;
    log.info({ collector: withoutSecrets(url), lost }, 'the collector of traces takes spans again');
    lost = 0;
  };
  return {
    export(spans, done) {
      exporter.export(spans, ({ code, error }) => {
        if (code === ExportResultCode.SUCCESS) onSuccess();
        else onFailure(spans.length, error);
        done({ code: ExportResultCode.SUCCESS }); // it was told of here
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

/** A collector's address may have a login or a key in it. */
function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
