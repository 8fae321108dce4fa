import type { Config } from '../../platform/load-config.ts';

export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof samplerNames)[number];

export interface TracingSettings {
  /** The URL for spans. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The service name of spans. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: SamplerName;
  /** The ratio of the sampler, 0 to 1. */
  readonly ratio: number;
}

/** The tracing that the standard variables request. */
export type RequestedTracing =
  | { readonly kind: 'off' }
  /** An unsupported setting, as a sentence for the operator. */
  | { readonly kind: 'unmet'; readonly why: string }
  | { readonly kind: 'on'; readonly settings: TracingSettings };

/** The default endpoint of OTLP. */
const defaultEndpoint = 'http://localhost:4318';

/**
 * Reads `OTEL_*`. Tracing is off unless an endpoint or the exporter `otlp` is set. `serviceName` is the default of
 * OTEL_SERVICE_NAME.
 */
export function tracingSettings(config: Config, process: { serviceName: string; version: string }): RequestedTracing {
  const exporter = config.OTEL_TRACES_EXPORTER;
  const endpoint = config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? config.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isRequested = exporter === undefined ? endpoint !== undefined : exporter !== 'none';
  if (config.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || !isRequested) return { kind: 'off' };
  const protocol = config.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? config.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf';
  const sampler = samplerNames.find((name) => name === config.OTEL_TRACES_SAMPLER);
  if (exporter !== undefined && exporter !== 'otlp')
    return { kind: 'unmet', why: `OTEL_TRACES_EXPORTER is ${exporter}; only otlp and none are supported` };
  if (protocol !== 'http/protobuf')
    return {
      kind: 'unmet',
      why: `the OTLP protocol is ${protocol}; only http/protobuf is supported, mostly on port 4318`,
    };
  if (sampler === undefined)
    return {
      kind: 'unmet',
      why: `OTEL_TRACES_SAMPLER is ${config.OTEL_TRACES_SAMPLER}; it must be one of ${samplerNames.join(', ')}`,
    };
  return {
    kind: 'on',
    settings: {
      url:
        config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ??
        `${(config.OTEL_EXPORTER_OTLP_ENDPOINT ?? defaultEndpoint).replace(/\/$/, '')}/v1/traces`,
      headers: { ...pairsOf(config.OTEL_EXPORTER_OTLP_HEADERS), ...pairsOf(config.OTEL_EXPORTER_OTLP_TRACES_HEADERS) },
      resource: {
        'service.name': process.serviceName,
        'service.version': process.version,
        ...pairsOf(config.OTEL_RESOURCE_ATTRIBUTES),
        ...(config.OTEL_SERVICE_NAME === undefined ? {} : { 'service.name': config.OTEL_SERVICE_NAME }),
      },
      sampler,
      ratio: config.OTEL_TRACES_SAMPLER_ARG,
    },
  };
}

/** Parses comma-separated `key=value` pairs with percent-encoding; skips invalid pairs. */
function pairsOf(text: string | undefined): Record<string, string> {
  const pairs = (text ?? '')
    .split(',')
    .map((pair) => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair))
    .filter((pair) => pair !== null);
  return Object.fromEntries(pairs.map(([, key, value]) => [decoded(key!), decoded(value!)]));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
