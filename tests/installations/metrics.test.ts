import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Client, createAccount, createTopic } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const { stack, store } = await useOwnStack({ RATE_LIMITS: 'off' });
const operator = new Client(undefined, stack.urls);
const figures = async (): Promise<string> => (await operator.call('GET', '/metrics')).body as string;
/** With a pause between two scrapes, because scrapes within half a minute share a measurement of lags. */
const patience = { timeoutMs: 60_000, intervalMs: 1_000 };

const deploy = path.join(import.meta.dirname, '../../deploy');
/** The metric names in a dashboard or rule, without the suffixes of histograms. */
const asked = (file: string) =>
  new Set(
    [...readFileSync(path.join(deploy, file), 'utf8').matchAll(/\b((?:tocsin|nodejs|process)_[a-z0-9_]+)/g)].map(
      ([, name]) => name!.replace(/_(bucket|count|sum)$/, ''),
    ),
  );

test.each(['grafana-dashboard.json', 'alert-rules.yml'])('every metric that deploy/%s uses exists', async (file) => {
  const names = [...asked(file)];
  expect(names.length).toBeGreaterThan(5);
  const text = await figures();
  for (const name of names) expect(text).toContain(`# TYPE ${name} `);
});

test('publish durations are labelled by route, not by topic, and include the time until messages are readable', async () => {
  const owner = await createAccount(store, { urls: stack.urls });
  const topic = await createTopic(owner);
  expect((await owner.client.call('POST', `/${topic.name}`, { text: 'the pump stopped' })).status).toBe(200);
  expect((await owner.client.call('POST', '/no-such-topic', { text: 'the pump stopped' })).status).toBe(404);
  await eventually(async () => {
    const text = await figures();
    expect(text).toMatch(/^tocsin_http_request_seconds_count\{operation="publish",status="2xx"\} 1$/m);
    expect(text).toMatch(/^tocsin_http_request_seconds_count\{operation="publish",status="4xx"\} 1$/m);
    expect(text).toMatch(/^tocsin_fanout_delay_seconds_count 1$/m);
    expect(text).toMatch(/^tocsin_fanout_lag_records 0$/m);
    expect(text).toMatch(/^tocsin_notifier_lag_records 0$/m);
    expect(text).toMatch(/^tocsin_queue_jobs\{queue="push-normal",state="waiting"\} 0$/m);
  }, patience);
  expect(await figures()).not.toContain(topic.name);
});

test('requests of sinks are counted, and their lag is labelled by state, topic ID and sink ID', async () => {
  const owner = await createAccount(store, { urls: stack.urls });
  const topic = await createTopic(owner);
  const path = `/api/topics/${topic.id}/sinks`;
  const json = { name: 'tickets', kind: 'webhook', url: 'https://hooks.example.com/' };
  const { id } = (await owner.client.call('POST', path, { json })).body;
  expect((await owner.client.call('PATCH', `${path}/${id}`, { json: { state: 'paused' } })).status).toBe(200);
  expect((await owner.client.call('POST', `${path}/${id}/test`)).status).toBe(202);
  await owner.client.call('POST', `/${topic.name}`, { text: '1' });
  await eventually(
    async () => expect(await figures()).toMatch(/^tocsin_sink_requests_total\{kind="webhook",outcome="test"\} [1-9]/m),
    patience,
  );
  await eventually(
    async () =>
      expect(await figures()).toContain(
        `tocsin_sink_lag_records{state="paused",topic_id="${topic.id}",sink_id="${id}"} 1`,
      ),
    patience,
  );
  expect(await figures()).toMatch(/^tocsin_sink_lag_records\{state="active",topic_id="",sink_id=""\} 0$/m);
}, 150_000);

test('the lag of consumers is labelled by state, topic ID and consumer', async () => {
  const owner = await createAccount(store, { urls: stack.urls });
  const { id, name } = await createTopic(owner);
  const put = (consumer: string, offset: number) =>
    owner.client.call('PUT', `/api/topics/${name}/consumers/${consumer}`, { json: { offset } });
  await owner.client.call('POST', `/${name}`, { text: '1' });
  const { body } = await owner.client.call('POST', `/${name}`, { text: '2' });
  for (const [consumer, offset] of [
    ['behind', 0],
    ['current', body.offset + 1],
  ] as const)
    expect((await put(consumer, offset)).status).toBe(200);
  await eventually(
    async () =>
      expect(await figures()).toContain(
        `tocsin_log_consumer_lag_records{state="active",topic_id="${id}",consumer="behind"} 2`,
      ),
    patience,
  );
  expect(await figures()).not.toContain('consumer="current"');
  expect(await figures()).toMatch(/^tocsin_log_consumer_lag_records\{state="idle",topic_id="",consumer=""\} 0$/m);
});
