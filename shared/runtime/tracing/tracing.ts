import type { TraceContext } from '../../domain/trace-context.ts';

/**
 * Attribute names follow OpenTelemetry or begin with `tocsin.`. Values can be IDs, but never names, addresses or texts
 * from users.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** The OpenTelemetry kind of the span. */
export const messagingOperation = (name: 'send' | 'process'): SpanAttributes => ({
  'messaging.operation.type': name,
  'messaging.operation.name': name,
});

export interface SpanOptions {
  /** A name of low cardinality: the operation, not its subject. */
  readonly name: string;
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  readonly attributes?: SpanAttributes;
  /** The parent, and the link of a consumer span. Null starts a new trace. Default: the active span. */
  readonly parent?: TraceContext | null;
  /**
   * The context that jobs added within the span propagate instead of its own, so that pages and retries of one task are
   * siblings.
   */
  readonly propagated?: TraceContext | undefined;
}

export interface Span {
  /** The context to propagate. */
  readonly context: TraceContext;
  set(attributes: SpanAttributes): void;
  /** Ends the span; call once. Records only the kind of `failure`. A retry is not a failure. */
  end(failure?: unknown): void;
}

/** Creates spans and provides the active context. Never throws, and never blocks except in `close`. */
export interface Tracing {
  /** Whether tracing is on; otherwise all methods do nothing. */
  readonly isEnabled: boolean;
  start(options: SpanOptions): Span;
  /** Runs a function with the span active, including after its awaits. Does not end the span. */
  within<T>(span: Span, run: () => T): T;
  /** Starts a span, runs a function within it, and ends it. A rejection marks the span as failed and is rethrown. */
  span<T>(options: SpanOptions, run: (span: Span) => Promise<T>): Promise<T>;
  /** The context for a new job; undefined without an active span. */
  contextForJobs(): TraceContext | undefined;
  /** Log fields of the active span: `trace_id`, `span_id` and `trace_flags`, or none. */
  logFields(): Readonly<Record<string, string>>;
  /** Sends pending spans; takes at most two seconds. */
  close(): Promise<void>;
}

const noSpan: Span = { context: { traceparent: '' }, set: () => undefined, end: () => undefined };

/** Tracing that does nothing. */
export const untraced: Tracing = {
  isEnabled: false,
  start: () => noSpan,
  within: (_, run) => run(),
  span: (_, run) => run(noSpan),
  contextForJobs: () => undefined,
  logFields: () => ({}),
  close: () => Promise.resolve(),
};
