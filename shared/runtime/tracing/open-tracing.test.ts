import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { loadConfig } from '../../platform/load-config.ts';
import { openLogger } from '../../platform/logger.ts';
import { openTracing } from './open-tracing.ts';
import { tracingSettings } from './tracing-settings.ts';
import { tracedEngine } from './traced-engine.ts';
import { untraced } from './tracing.ts';
import type { Engine } from '../../ports/engine.ts';

const asked = (env: NodeJS.ProcessEnv) =>
  tracingSettings(loadConfig(env, '/nonexistent'), { serviceName: 'tocsin-api', version: '1.2.3' });

test.each([
  {},
  { OTEL_SERVICE_NAME: 'x' },
  { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' },
  { OTEL_SDK_DISABLED: 'TRUE', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
  { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'xray' },
])('%j does not enable tracing', (env) => {
  expect(asked(env)).toEqual({ kind: 'off' });
});

test.each([
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, 'http://collector:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector/otlp/' }, 'https://collector/otlp/v1/traces'],
  [
    {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://tempo/here',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_SDK_DISABLED: 'false',
    },
    'http://tempo/here',
  ],
])('%j sends spans to %s', (env, url) => {
  expect(asked(env)).toMatchObject({
    kind: 'on',
    settings: { url, headers: {}, sampler: 'parentbased_always_on', ratio: 1 },
  });
});

test('reads headers, resource and sampler from the variables', () => {
  expect(
    asked({
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_HEADERS: 'a=1, b = two%20words ,nonsense',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=2,c=x=y',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=from-resource,deployment.environment.name=test',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.1',
    }),
  ).toMatchObject({
    kind: 'on',
    settings: {
      headers: { a: '2', b: 'two words', c: 'x=y' },
      sampler: 'traceidratio',
      ratio: 0.1,
      resource: { 'service.name': 'from-resource', 'service.version': '1.2.3', 'deployment.environment.name': 'test' },
    },
  });
  expect(asked({ OTEL_TRACES_EXPORTER: 'otlp' })).toMatchObject({
    settings: { resource: { 'service.name': 'tocsin-api' } },
  });
  expect(
    asked({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SERVICE_NAME: 'bell', OTEL_RESOURCE_ATTRIBUTES: 'service.name=x' }),
  ).toMatchObject({ settings: { resource: { 'service.name': 'bell' } } });
});

test.each([
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER is zipkin'],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'the OTLP protocol is grpc'],
  [
    { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' },
    'the OTLP protocol is http/json',
  ],
  [{ OTEL_TRACES_SAMPLER: 'xray' }, 'OTEL_TRACES_SAMPLER is xray'],
])('logs a warning for %j and disables tracing', async (env, why) => {
  const lines: string[] = [];
  const log = openLogger('test', 'info', { write: (line) => void lines.push(line) });
  const config = loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', ...env }, '/nonexistent');
  expect(await openTracing(config, { process: { serviceName: 'tocsin', version: '1' }, log })).toBe(untraced);
  expect(lines).toEqual([expect.stringContaining(`tracing is off: ${why}`)]);
});

test('returns the engine itself without tracing', () => {
  const engine = {} as Engine;
  expect(tracedEngine(engine, untraced, { KAFKA_TOPIC: 'x' })).toBe(engine);
});

test('loads the SDK only if tracing is enabled', async () => {
  const packagesLoaded = async (env: Record<string, string>): Promise<unknown> => JSON.parse(await runScript(env));
  expect(await packagesLoaded({})).toEqual([]);
  expect(await packagesLoaded({ OTEL_TRACES_EXPORTER: 'otlp' })).toEqual(
    expect.arrayContaining(['@opentelemetry/sdk-trace', '@opentelemetry/exporter-trace-otlp-proto']),
  );
});

/**
 * Loads the modules of every service, opens tracing, and prints the loaded OpenTelemetry packages. prom-client loads
 * the API package, too.
 */
async function runScript(env: Record<string, string>): Promise<string> {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load(url, context, next) {
      const name = /node_modules\\/(@opentelemetry\\/[^/]+)/.exec(url)?.[1];
      if (name !== undefined && name !== '@opentelemetry/api') loaded.add(name);
      return next(url, context);
    } });
    await import('../run-service.ts');
    const { openTracing } = await import('./open-tracing.ts');
    const { loadConfig } = await import('../../platform/load-config.ts');
    const tracing = await openTracing(loadConfig(process.env, '/nonexistent'), { process: { serviceName: 'x', version: '1' } });
    await tracing.close();
    console.log(JSON.stringify([...loaded]));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env['PATH'], ...env },
    cwd: import.meta.dirname,
  });
  return stdout;
}
