import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newDevice, newSubscription, newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import type { ReceivedSpan } from '@tocsin/shared/testing/decode-otlp-traces.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { startOtlpReceiver, type OtlpReceiver } from '@tocsin/shared/testing/start-otlp-receiver.ts';
import { engineUnderTest, openOwnEngine, type TestPlace } from '@tocsin/shared/testing/test-engine.ts';
import { openTracing } from '@tocsin/shared/runtime/tracing/open-tracing.ts';
import { tracedEngine } from '@tocsin/shared/runtime/tracing/traced-engine.ts';
import { startRoles } from './commands/start-roles.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const traceHeaders = { traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'congo=t61rcWkgMzE' };

const own = closers();
let place: TestPlace;
let engine: Engine;
let collector: OtlpReceiver;
let expo: ExpoSimulator;
beforeAll(async () => {
  collector = await startOtlpReceiver();
  own.add(() => collector.close());
  expo = await startExpoSimulator();
  own.add(() => expo.close());
  ({ place, engine } = await openOwnEngine(own));
});
afterAll(() => own.closeAll());

let running: { readonly url: string; readonly lines: string[]; close(): Promise<void> } | undefined;
afterEach(() => running?.close());

/** Starts roles on the engine with separate tracing and logging. */
async function start(env: Record<string, string>): Promise<NonNullable<typeof running>> {
  const lines: string[] = [];
  const config = loadConfig(
    { ...place.env, PORT: '0', EXPO_URL: expo.url, RATE_LIMITS: 'off', ...env },
    '/nonexistent',
  );
  const parts = closers();
  const log = openLogger('test', 'warn', { write: (line) => void lines.push(line) });
  const tracing = await openTracing(config, { process: { serviceName: 'tocsin-test', version: '1.2.3' }, log });
  parts.add(() => tracing.close());
  const roles = await startRoles({
    engine: tracedEngine(engine, tracing, config),
    config,
    clock: systemClock,
    log,
    tracing,
    metrics: new Registry(),
    leaving: new AbortController().signal,
  });
  parts.add(() => roles.close());
  running = { url: roles.url!, lines, close: () => parts.closeAll() };
  return running;
}

async function publish(
  url: string,
  topic: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: { id: string } }> {
  const answer = await fetch(`${url}/${topic}`, {
    method: 'POST',
    body: 'the pump stopped',
    headers: { 'X-Title': 'Cellar', 'X-Priority': '5', ...headers },
  });
  return { status: answer.status, body: (await answer.json()) as { id: string } };
}

async function addSubscribedTopic(): Promise<{ id: string; name: string; pushToken: string }> {
  const user = await engine.documents.insert(users, newUser());
  const { id, name } = await engine.documents.insert(topics, newTopic(user.id));
  await engine.documents.insert(subscriptions, newSubscription(user.id, id));
  const { pushToken } = await engine.documents.insert(devices, newDevice(user.id));
  return { id, name, pushToken };
}

test(`traces a publish from the request to the push, ${engineUnderTest}`, async () => {
  const { url, close } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ROLES: 'api,fanout,notifier' });
  const topic = await addSubscribedTopic();
  const {
    status,
    body: { id: messageId },
  } = await publish(url, topic.name, traceHeaders);
  expect(status).toBe(200);
  await eventually(() => expect(expo.pushes).toMatchObject([{ token: topic.pushToken, messageId }]));
  await eventually(async () => expect(await engine.deliveries.counts(messageId)).toMatchObject({ sent: 1 }));
  await eventually(() => engine.messages.find(messageId).then((message) => message !== null));
  await eventually(async () => expect(await engine.eventLog.lag('fanout')).toBe(0));
  // Exports the remaining spans with a limit of two seconds. The first export may take longer because it loads modules.
  await close();

  const log = place.config.KAFKA_TOPIC;
  const handling = `process ${log}`;
  const once = ['POST /{topic}', `send ${log}`, 'process push-urgent', 'push page', 'send expo'];
  // The worker defers the job if it starts before the message can be read; each attempt creates a span.
  const ofTrace = (): ReceivedSpan[] =>
    collector.spans.filter((span) => span.traceId === traceId && span.attributes['tocsin.put_off'] !== true);
  const handledBy = (group: string) =>
    ofTrace().filter(
      ({ name, attributes }) => name === handling && attributes['messaging.consumer.group.name'] === group,
    );
  await eventually(() => {
    expect(ofTrace().map(({ name }) => name)).toEqual(expect.arrayContaining(once));
    for (const group of ['fanout', 'notifier']) expect(handledBy(group)).not.toEqual([]);
  });
  const spans = ofTrace();
  const only = (name: string): ReceivedSpan => {
    const found = spans.filter((span) => span.name === name);
    expect(found).toHaveLength(1);
    return found[0]!;
  };
  const [request, sent, job, page, pushed] = once.map(only) as [
    ReceivedSpan,
    ReceivedSpan,
    ReceivedSpan,
    ReceivedSpan,
    ReceivedSpan,
  ];
  // A consumer group may receive a record again after a member joins; each time creates a span.
  const handled = spans.filter(({ name }) => name === handling);
  const expanded = handledBy('notifier').find((span) => span.spanId === job.parentSpanId)!;
  expect(spans).toHaveLength(once.length + handled.length);
  expect([request, sent, job, page, pushed].map(({ kind, parentSpanId }) => [kind, parentSpanId])).toEqual([
    ['server', spanId],
    ['producer', request.spanId],
    ['consumer', expanded.spanId],
    ['internal', job.spanId],
    ['client', page.spanId],
  ]);
  for (const span of handled)
    expect(span).toMatchObject({
      kind: 'consumer',
      parentSpanId: sent.spanId,
      links: [{ traceId, spanId: sent.spanId }],
    });
  expect(job.links).toEqual([{ traceId, spanId: expanded.spanId }]);
  expect(new Set(spans.map(({ traceState }) => traceState))).toEqual(new Set([traceHeaders.tracestate]));
  expect(spans.filter(({ isFailed }) => isFailed)).toEqual([]);
  expect(request.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/{topic}',
    'http.response.status_code': 200,
    'network.protocol.version': '1.1',
    'tocsin.operation': 'publish',
  });
  expect(sent.attributes).toMatchObject({
    'messaging.system': engineUnderTest === 'cluster' ? 'kafka' : 'tocsin',
    'messaging.message.id': messageId,
    'tocsin.topic.id': topic.id,
    'tocsin.record.type': 'message',
  });
  expect(page.attributes).toMatchObject({ 'tocsin.recipients': 1 });
  expect(pushed.attributes).toMatchObject({ 'messaging.batch.message_count': 1, 'tocsin.push.accepted': 1 });
  expect(request.resource).toMatchObject({ 'service.name': 'tocsin-test', 'service.version': '1.2.3' });
  // Spans reveal neither the content, nor the topic, nor the recipients.
  expect(JSON.stringify(collector.spans)).not.toMatch(new RegExp(`${topic.name}|pump|Cellar|ExponentPushToken`));
});

test('stores no trace context in the log without OTEL_*', async () => {
  const { url } = await start({ ROLES: 'api' });
  const before = collector.spans.length;
  const topic = await addSubscribedTopic();
  const {
    body: { id },
  } = await publish(url, topic.name, traceHeaders);
  const found: unknown[] = [];
  const consumption = await engine.eventLog.consume({
    group: 'looking',
    onBatch: async ({ records }) =>
      void found.push(...records.filter(({ record }) => record.message.id === id).map(({ record }) => record.trace)),
  });
  await eventually(() => expect(new Set(found)).toEqual(new Set([undefined])));
  await consumption.close();
  expect(collector.spans).toHaveLength(before);
});

test('accepts publishes while the collector is unreachable and logs it once', async () => {
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '500'; // limit of the exporter's retries
  const { url, lines, close } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', ROLES: 'api' });
  const topic = await addSubscribedTopic();
  const statuses = await Promise.all(Array.from({ length: 300 }, async () => (await publish(url, topic.name)).status));
  expect(new Set(statuses)).toEqual(new Set([200]));
  await close();
  expect(lines.filter((line) => line.includes('the trace collector rejects spans'))).toHaveLength(1);
});
