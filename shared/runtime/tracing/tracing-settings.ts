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
  /** Where spans are posted to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the spans are said to be of. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: SamplerName;
  /** Of the samplers that take a part of the traces: 0 to 1. */
  readonly ratio: number;
}

/** What the standard variables ask for. */
export type AskedTracing =
  | { readonly kind: 'off' }
  /** Something that this cannot do: a sentence for the operator. */
  | { readonly kind: 'unmet'; readonly why: string }
  | { readonly kind: 'on'; readonly settings: TracingSettings };

/** The collector on the same machine, as OTLP has it. */
const defaultEndpoint = 'http://localhost:4318';

/**
 * Reads what `OTEL_*` asks for: tracing is off unless an endpoint or the exporter `otlp` is named. `serviceName` is what the
 * process is called where OTEL_SERVICE_NAME does not say.
 */
export function tracingSettings(config: Config, process: { serviceName: string; version: string }): AskedTracing {
  const exporter = config.OTEL_TRACES_EXPORTER;
  const endpoint = config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? config.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isAsked = exporter === undefined ? endpoint !== undefined : exporter !== 'none';
  if (config.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || !isAsked) return { kind: 'off' };
  const protocol = config.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? config.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf';
  const sampler = samplerNames.find((name) => name === config.OTEL_TRACES_SAMPLER);
  if (exporter !== undefined && exporter !== 'otlp')
    return { kind: 'unmet', why: `OTEL_TRACES_EXPORTER is ${exporter}: spans go by otlp or nowhere` };
  if (protocol !== 'http/protobuf')
    return {
      kind: 'unmet',
      why: `the protocol of OTLP is ${protocol}: spans go by http/protobuf alone, mostly to port 4318`,
    };
  if (sampler === undefined)
    return {
      kind: 'unmet',
      why: `OTEL_TRACES_SAMPLER is ${config.OTEL_TRACES_SAMPLER}: it may be ${samplerNames.join(', ')}`,
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

/** `key=value` by commas, percent-encoded, as the variables of OpenTelemetry have it; what is none is left out. */
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
