import type { TraceContext } from '../../domain/trace-context.ts';

/** Names of attributes are OpenTelemetry's, where it has one, else they begin with `tocsin.`. Ids are fine; names that a user gave, addresses and texts are not. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** What OpenTelemetry calls this step of a message's or a job's way. */
export const messagingOperation = (name: 'send' | 'process'): SpanAttributes => ({
  'messaging.operation.type': name,
  'messaging.operation.name': name,
});

export interface SpanOptions {
  /** One of few: what was done, and not to what. */
  readonly name: string;
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  readonly attributes?: SpanAttributes;
  /** What it is a part of, and for a consumer is linked to; null: nothing that is known. By default the span that is active. */
  readonly parent?: TraceContext | null;
  /** What jobs that are made within it carry on, instead of its own context: pages and tries of one work then stand side by side. */
  readonly handsOn?: TraceContext | undefined;
}

export interface Span {
  /** To be sent along with what comes of it. */
  readonly context: TraceContext;
  set(attributes: SpanAttributes): void;
  /** To be called once. `failure`: what went wrong, of which the kind is kept and not the words; work that is to come again later has not failed. */
  end(failure?: unknown): void;
}

/** Makes spans, and says where in a trace something is done. Never throws, and never waits but at its close. */
export interface Tracing {
  /** Whether spans are made at all; else all of this does nothing. */
  readonly isOn: boolean;
  start(options: SpanOptions): Span;
  /** Runs something with the span as the active one, also behind what it awaits. Does not end it. */
  within<T>(span: Span, run: () => T): T;
  /** Starts a span, runs something within it, and ends it. Rejects as that does, and then the span has failed. */
  span<T>(options: SpanOptions, run: (span: Span) => Promise<T>): Promise<T>;
  /** What a job that is made now carries; undefined where no span is active. */
  handOn(): TraceContext | undefined;
  /** What a log line says of the active span: `trace_id`, `span_id` and `trace_flags`, or nothing. */
  logFields(): Readonly<Record<string, string>>;
  /** Sends what was not sent yet; two seconds at most. */
  close(): Promise<void>;
}

const noSpan: Span = { context: { traceparent: '' }, set: () => undefined, end: () => undefined };

/** Nothing is traced. */
export const untraced: Tracing = {
  isOn: false,
  start: () => noSpan,
  within: (_, run) => run(),
  span: (_, run) => run(noSpan),
  handOn: () => undefined,
  logFields: () => ({}),
  close: () => Promise.resolve(),
};
