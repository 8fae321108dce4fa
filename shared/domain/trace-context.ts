/**
 * A W3C trace context (https://www.w3.org/TR/trace-context/). Requests, log records and job data contain it. Only
 * tracing reads it.
 */
export interface TraceContext {
  /** `00-<trace id>-<span id>-<flags>`, in lower-case hex. */
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** The length that every implementation must propagate. Limits what clients can add to records. */
const tracestateMax = 512;

/** Later versions may append fields after the flags. */
const traceparentPattern = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Parses two header values to a context of version 00; undefined if the first is invalid. Drops a `tracestate` that is
 * too long or not ASCII, which the trace does not need.
 */
export function parseTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId, spanId, flags, more] = traceparentPattern.exec(traceparent) ?? [];
  if (version === undefined || (version === '00' && more !== undefined)) return undefined;
  const parsed = { traceparent: `00-${traceId}-${spanId}-${flags}` };
  const isValidTracestate =
    typeof tracestate === 'string' && tracestate.length <= tracestateMax && /^[\x20-\x7e]+$/.test(tracestate);
  return isValidTracestate ? { ...parsed, tracestate } : parsed;
}

/** Adds the context to the data of a job; returns the job unchanged if there is no context. */
export function withTrace<T extends { readonly data: { readonly [key: string]: unknown } }>(
  carrier: T,
  trace: TraceContext | undefined,
): T {
  return trace === undefined ? carrier : { ...carrier, data: { ...carrier.data, trace } };
}

/** Returns the context in the data of a job; undefined if missing or invalid. */
export function traceOf({ trace }: { readonly [key: string]: unknown }): TraceContext | undefined {
  if (typeof trace !== 'object' || trace === null) return undefined;
  const { traceparent, tracestate } = trace as { readonly [key: string]: unknown };
  return parseTraceContext(traceparent, tracestate);
}
