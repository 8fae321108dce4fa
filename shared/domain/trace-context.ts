/**
 * Where something stands in a trace, as W3C Trace Context has it (https://www.w3.org/TR/trace-context/). It comes with
 * requests, and travels in records of the log and in the data of jobs. Nobody but tracing reads it.
 */
export interface TraceContext {
  /** `00-<trace id>-<span id>-<flags>`, in lower-case hex. */
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** What the specification asks everybody to hand on. Harm prevented: a stranger's kilobytes in every record. */
const tracestateMax = 512;

/** Later versions may have more behind the flags. */
const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * The context that two header values say, in the form of version 00; undefined where the first is none. A `tracestate` that is
 * too long or no ASCII is left out: it says nothing that the trace cannot do without.
 */
export function parseTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId, spanId, flags, more] = form.exec(traceparent) ?? [];
  if (version === undefined || (version === '00' && more !== undefined)) return undefined;
  const parsed = { traceparent: `00-${traceId}-${spanId}-${flags}` };
  const isKept =
    typeof tracestate === 'string' && tracestate.length <= tracestateMax && /^[\x20-\x7e]+$/.test(tracestate);
  return isKept ? { ...parsed, tracestate } : parsed;
}

/** A job, or what else carries data, with the context in it; as it is where there is none. */
export function withTrace<T extends { readonly data: { readonly [key: string]: unknown } }>(
  carrier: T,
  trace: TraceContext | undefined,
): T {
  return trace === undefined ? carrier : { ...carrier, data: { ...carrier.data, trace } };
}

/** The context in the data of a job; undefined where it has none, or one that cannot be read. */
export function traceOf({ trace }: { readonly [key: string]: unknown }): TraceContext | undefined {
  if (typeof trace !== 'object' || trace === null) return undefined;
  const { traceparent, tracestate } = trace as { readonly [key: string]: unknown };
  return parseTraceContext(traceparent, tracestate);
}
