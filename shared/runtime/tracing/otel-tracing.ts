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

/**
 * The maximum number of unsent spans of about 2 kB each; more are dropped, so that a hanging collector cannot fill the
 * memory.
 */
const waitingMax = 4_096;
/** Less than the 30 seconds of a shutdown. */
const closeMsMax = 2_000;
/** Prevents a log line per batch while the collector is down. */
const logEveryMs = 60_000;

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** The active span of the current execution. */
interface Active {
  readonly spanContext: SpanContext;
  readonly propagated: TraceContext | undefined;
  /** Set when the span ends: log lines of later work, such as a stream, do not contain its IDs. */
  hasEnded: boolean;
}

/** Tracing with the OpenTelemetry SDK over OTLP/HTTP. It has no global state, so a process can have several. */
export function otelTracing(settings: TracingSettings, log: Logger): Tracing {
  const exporter = new OTLPTraceExporter({ url: settings.url, headers: settings.headers });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(detectResources({ detectors: [serviceInstanceIdDetector] }))
      .merge(resourceFromAttributes(settings.resource)),
    sampler: samplerOf(settings.sampler, settings.ratio),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: withLossLogging(exporter, { url: settings.url, log }),
        maxQueueSize: waitingMax,
      }),
    ],
  });
  return new OtelTracing(provider);
}

class OtelTracing implements Tracing {
  readonly isEnabled = true;
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
    // Consumer spans link to the producer's span even if it is also the parent (semantic conventions of messaging).
    const links = kind === 'consumer' && above !== undefined ? [{ context: above }] : [];
    const span = this.#tracer.startSpan(name, { kind: kinds[kind], attributes, links }, contextOf(above));
    return new OpenSpan(span, options.propagated ?? (parent === undefined ? active?.propagated : undefined));
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

  contextForJobs(): TraceContext | undefined {
    const active = this.#active.getStore();
    return active === undefined ? undefined : (active.propagated ?? toTraceContext(active.spanContext));
  }

  logFields(): Readonly<Record<string, string>> {
    const active = this.#active.getStore();
    if (active === undefined || active.hasEnded) return {};
    const { traceId, spanId, traceFlags } = active.spanContext;
    return { trace_id: traceId, span_id: spanId, trace_flags: formatFlags(traceFlags) };
  }

  /** Spans that cannot be sent in time are lost. The exporter has logged the reason. */
  async close(): Promise<void> {
    await settledWithin(closeMsMax, [this.#provider.shutdown()]);
  }
}

class OpenSpan implements Span {
  readonly active: Active;
  /** Released when the span ends, because later work, such as a stream, may keep `active` for a long time. */
  #span: OtelSpan | undefined;
  #context: TraceContext | undefined;

  constructor(span: OtelSpan, propagated: TraceContext | undefined) {
    this.#span = span;
    this.active = { spanContext: span.spanContext(), propagated, hasEnded: false };
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
      span.setAttribute('tocsin.put_off', true); // a retry is not a failure
    else if (failure !== undefined)
      span.setAttribute('error.type', kindOf(failure)).setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    this.active.hasEnded = true;
    this.#span = undefined;
  }
}

/** Returns `error.type`, a value of low cardinality. Error messages may contain message text or names. */
function kindOf(failure: unknown): string {
  if (typeof failure === 'string') return failure;
  if (failure instanceof AppError) return failure.code;
  return failure instanceof Error ? failure.name : '_OTHER';
}

const contextOf = (above: SpanContext | undefined): Context =>
  above === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, above);

const formatFlags = (traceFlags: number): string => traceFlags.toString(16).padStart(2, '0');

function toTraceContext({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${formatFlags(traceFlags)}`;
  const tracestate = traceState?.serialize() ?? '';
  return tracestate === '' ? { traceparent } : { traceparent, tracestate };
}

/** Accepts contexts validated by `parseTraceContext`. */
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

/** The exporter. Logs when the collector rejects spans, at most once per minute, and when it recovers. */
function withLossLogging(exporter: OTLPTraceExporter, { url, log }: { url: string; log: Logger }): SpanExporter {
  let lost = 0;
  let loggedAt = -Infinity;
  const onFailure = (spans: number, error: Error | undefined): void => {
    lost += spans;
    if (performance.now() - loggedAt < logEveryMs) return;
    loggedAt = performance.now();
    log.warn({ err: error, collector: withoutSecrets(url), lost }, 'the trace collector rejects spans, dropping them');
  };
  const onSuccess = (): void => {
    if (lost === 0) return;
    log.info({ collector: withoutSecrets(url), lost }, 'the trace collector accepts spans again');
    lost = 0;
  };
  return {
    export(spans, done) {
      exporter.export(spans, ({ code, error }) => {
        if (code === ExportResultCode.SUCCESS) onSuccess();
        else onFailure(spans.length, error);
        done({ code: ExportResultCode.SUCCESS }); // already logged
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

/** The URL of a collector may contain credentials. */
function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
