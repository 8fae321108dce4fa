import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { runCommand } from '../support/run-command.ts';
import { Client, createAccount, createTopic, type Account } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

/** Long enough to be visible everywhere before the expiry, also on a busy machine. */
const lifetimeMs = 12_000;
const patience = { intervalMs: 1_000, timeoutMs: 3 * lifetimeMs };

// Messages live for some seconds and no sweep runs: expired messages are hidden, not removed.
const { stack: running, store } = await useOwnStack({
  RETENTION_DAYS_FREE: String(lifetimeMs / 86_400_000),
  RETENTION_SCHEDULE: '0 0 1 1 *',
  TRUST_PROXY: '1',
  ADMIN_TOKEN: 'the-operator-of-the-tests',
});

let owner: Account;
/** Messages for the operator's tests, which expire while the other tests run. */
let planned: { id: string; name: string };
let held: { id: string; name: string };
const operator = new Client('the-operator-of-the-tests', running.urls);
beforeAll(async () => {
  owner = await createAccount(store, { urls: running.urls });
  [planned, held] = [await createTopic(owner), await createTopic(owner)];
  expect((await operator.call('PUT', `/admin/topics/${held.name}/hold`)).status).toBe(200);
  for (const name of [planned.name, planned.name, held.name])
    expect((await owner.client.call('POST', `/${name}`, { text: 'über' })).status).toBe(200);
});

test('an expired message is not returned anywhere, even before the sweep', async () => {
  const client = new Client(undefined, running.urls);
  const topic = await createTopic(owner);
  const shown = async () => {
    const reader = new Client(undefined, running.urls); // with its own rate limit
    const history = await reader.call('GET', `/${topic.name}/json?since=all`);
    const log = await reader.call('GET', `/api/topics/${topic.name}/log`);
    const found = await reader.call('GET', `/api/topics/${topic.name}/messages`);
    const withDeleted = await owner.client.call('GET', `/api/topics/${topic.name}/messages?include_deleted=true`);
    const search = await owner.client.call('GET', `/api/messages/search?topic=${topic.name}`);
    const recent = await owner.client.call('GET', `/api/messages/recent?topic=${topic.name}`);
    const activity = await owner.client.call('GET', `/api/messages/activity?topics=${topic.name}`);
    return [
      history.body.count,
      log.body.records.length,
      found.body.total,
      withDeleted.body.total,
      search.body.total,
      recent.body.length,
      activity.body.total,
    ];
  };
  expect((await owner.client.call('POST', '/api/subscriptions', { json: { topic_name: topic.name } })).status).toBe(
    201,
  );
  const { body: message } = await client.call('POST', `/${topic.name}`, { text: 'soon gone' });
  expect(Date.parse(message.expires_at) - Date.parse(message.timestamp)).toBe(lifetimeMs);
  expect(await shown()).toEqual([1, 1, 1, 1, 1, 1, 1]);
  await eventually(async () => expect(await shown()).toEqual([0, 0, 0, 0, 0, 0, 0]), patience);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(message.expires_at));
  expect((await client.call('GET', `/api/topics/${topic.name}/log`)).body.next_offset).toBe(0);
  const again = await client.call('POST', `/${topic.name}`, { text: 'later' });
  expect(again.body.offset).toBeGreaterThan(message.offset);
  const after = await client.call('GET', `/${topic.name}/json?since=${message.id}`);
  expect(after.body.messages.map((one: { message: string }) => one.message)).toEqual(['later']);
});

test('a stream that resumes after an expired message reports possible loss', async () => {
  const client = new Client(undefined, running.urls);
  const topic = await createTopic(owner);
  const { body: message } = await client.call('POST', `/${topic.name}`, { text: 'soon gone' });
  const ready = async () => {
    const response = await fetch(`${running.urls[0]}/${topic.name}/sse?since_id=${message.id}`, {
      headers: { 'X-Forwarded-For': client.address },
    });
    const reader = response.body!.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    return JSON.parse(/^data: (.*)$/m.exec(first)![1]!);
  };
  expect((await ready()).recovered).toBe(true);
  await eventually(async () => expect((await ready()).recovered).toBe(false), patience);
});

/** Runs `tocsin retention …` against the running stack. */
const command = (...args: string[]) => runCommand(['retention', ...args], '', running.env);

describe('the operator', () => {
  const planOf = async (upTo?: string) =>
    (await operator.call('GET', `/admin/retention/plan?limit=1000${upTo === undefined ? '' : `&up_to=${upTo}`}`)).body;
  const ofTopic = (plan: { topics: { topic_id: string }[] }, { id }: { id: string }) =>
    plan.topics.find((one) => one.topic_id === id);
  const history = async () => (await operator.call('GET', '/admin/retention/history')).body;

  test('sees the plan, and exactly the planned messages are removed', async () => {
    const expired = await eventually(async () => {
      const plan = await planOf();
      expect([planned, held].map((topic) => ofTopic(plan, topic))).toMatchObject([{ messages: 2 }, { messages: 1 }]);
      return plan;
    }, patience);
    // Only up to its time, regardless of later expiries.
    const plan = await planOf(expired.up_to);
    const bytes = Buffer.byteLength('über');
    expect(ofTopic(plan, planned)).toEqual({
      topic_id: planned.id,
      topic: planned.name,
      tier: 'FREE',
      retention_days: null,
      messages: 2,
      bytes: 2 * bytes,
      legal_hold: false,
      oldest_kept: null,
    });
    expect(ofTopic(plan, held)).toEqual({
      topic_id: held.id,
      topic: held.name,
      tier: 'FREE',
      retention_days: null,
      messages: 1,
      bytes,
      legal_hold: true,
      oldest_kept: null,
    });
    expect(plan).toMatchObject({
      needs_confirmation: false,
      held: { messages: 1, bytes },
      tiers: [{ tier: 'FREE', messages: plan.messages, bytes: plan.bytes }],
      waiting: null,
    });
    expect(JSON.parse((await command('plan', '--up-to', plan.up_to, '--json')).out)).toEqual(plan);

    const { status, body: queued } = await operator.call('POST', '/admin/retention/run', {
      json: { up_to: plan.up_to },
    });
    expect({ status, queued }).toEqual({
      status: 202,
      queued: { run_id: expect.any(String), up_to: plan.up_to, message: 'Run queued' },
    });
    await eventually(async () => expect((await history())[0]).toMatchObject({ id: queued.run_id, outcome: 'done' }));
    const volume = { messages: plan.messages, bytes: plan.bytes };
    const [run] = await history();
    expect(run).toMatchObject({
      started_by: 'api',
      up_to: plan.up_to,
      planned: volume,
      removed: volume,
      tiers: [{ tier: 'FREE', ...volume }],
      interruptions: 0,
    });
    expect(ofTopic(run, planned)).toEqual({
      topic_id: planned.id,
      topic: planned.name,
      tier: 'FREE',
      messages: 2,
      bytes: 2 * bytes,
    });
    expect(await planOf(plan.up_to)).toMatchObject({
      messages: 0,
      bytes: 0,
      tiers: [],
      held: { messages: 1, bytes },
      topics: [{ topic_id: held.id }],
    });
    expect(JSON.parse((await command('history', '--json')).out)).toEqual(await history());
  });

  test('reads what a legal hold keeps until the hold ends', async () => {
    const seen = await owner.client.call('GET', `/${held.name}/json?since=all`);
    expect(seen.body.messages).toEqual([]);
    const path = `/admin/topics/${held.name.toUpperCase()}/held`;
    const read = () =>
      fetch(running.urls[0]! + path, { headers: { Authorization: 'Bearer the-operator-of-the-tests' } });
    const response = await read();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    const lines = await response.text();
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line: string) => JSON.parse(line)),
    ).toMatchObject([{ topic: held.name, topic_id: held.id, message: 'über', is_deleted: false }]);
    const file = join(mkdtempSync(join(tmpdir(), 'held-')), 'held.ndjson');
    const topicCommand = (...args: string[]) => runCommand(['topic', ...args], '', running.env);
    expect(await topicCommand('held', held.name)).toEqual({ code: 0, out: lines, error: '' });
    expect(await topicCommand('held', held.name, '--output', file, '--json')).toEqual({
      code: 0,
      out: `${JSON.stringify({ topic: held.name, topic_id: held.id, messages: 1, file })}\n`,
      error: '',
    });
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([lines, 0o600]);
    expect(await topicCommand('held', 'no-such-topic')).toEqual({ code: 1, out: '', error: 'Topic not found\n' });

    expect((await operator.call('DELETE', `/admin/topics/${held.name}/hold`)).status).toBe(200);
    const { up_to } = await planOf();
    const { status, body } = await operator.call('POST', '/admin/retention/run', { json: { up_to } });
    expect(status).toBe(202);
    // The next test requests a run, which must not overlap with this one.
    await eventually(async () => expect((await history())[0]).toMatchObject({ id: body.run_id, outcome: 'done' }));
    expect(await (await read()).text()).toBe('');
    expect((await operator.call('GET', '/admin/topics/no-such-topic/held')).status).toBe(404);
  });

  test('pauses and resumes retention with the API and with the command', async () => {
    const paused = {
      ...{ paused_at: expect.any(String), pause_reason: 'an audit', waiting: null, confirmed_up_to: null },
      consumers_protected_until: null,
    };
    expect(await operator.call('POST', '/admin/retention/pause', { json: { reason: 'an audit' } })).toMatchObject({
      status: 200,
      body: paused,
    });
    expect(await command('run')).toMatchObject({ code: 1, error: 'Retention is paused: resume it first\n' });
    expect(await command('resume')).toMatchObject({
      code: 0,
      out: 'paused_at: -\npause_reason: -\nconfirmed_up_to: -\nconsumers_protected_until: -\nwaiting: -\n',
    });
    expect(JSON.parse((await command('pause', '--reason', 'an audit', '--json')).out)).toEqual(paused);
    expect((await operator.call('POST', '/admin/retention/run', { json: { up_to: '2020-01-01' } })).status).toBe(409);
    expect((await operator.call('POST', '/admin/retention/resume')).body).toMatchObject({
      paused_at: null,
      pause_reason: null,
    });
    const run = JSON.parse((await command('run', '--up-to', '2020-01-01', '--json')).out);
    await eventually(async () =>
      expect((await history())[0]).toMatchObject({
        id: run.run_id,
        started_by: 'command',
        up_to: '2020-01-01T23:59:59.999Z',
        removed: { messages: 0, bytes: 0 },
      }),
    );
    const { entries } = (await operator.call('GET', '/admin/audit?actor=operator&limit=5')).body;
    expect(
      entries.map(({ action, actor }: { action: string; actor: { through: string } }) => `${action} ${actor.through}`),
    ).toEqual([
      'retention.run_requested cli',
      'retention.resumed admin_token',
      'retention.paused cli',
      'retention.resumed cli',
      'retention.paused admin_token',
    ]);
    expect(entries[0]).toMatchObject({ subject: null, details: { up_to: '2020-01-01T23:59:59.999Z' } });
  });

  test('is the only one to do so, needs a past cut-off, and cannot confirm without a pending plan', async () => {
    const routes = [
      ['GET', 'plan'],
      ['GET', 'history'],
      ['POST', 'run'],
      ['POST', 'confirm'],
      ['POST', 'pause'],
      ['POST', 'resume'],
    ] as const;
    for (const [method, name] of routes) {
      expect((await new Client(undefined, running.urls).call(method, `/admin/retention/${name}`)).status).toBe(401);
      expect((await owner.client.call(method, `/admin/retention/${name}`)).status).toBe(401);
    }
    const past = { up_to: '2020-01-01T00:00:00Z' };
    expect(await operator.call('POST', '/admin/retention/confirm', { json: past })).toMatchObject({
      status: 409,
      body: { detail: 'No plan up to this time waits for confirmation' },
    });
    expect(await command('confirm', '--up-to', past.up_to)).toMatchObject({
      code: 1,
      error: 'No plan up to this time waits for confirmation\n',
    });
    for (const name of ['run', 'confirm']) {
      expect(await operator.call('POST', `/admin/retention/${name}`, { json: { up_to: '2100-01-01' } })).toMatchObject({
        status: 422,
        body: { detail: 'up_to: must not be in the future' },
      });
      expect((await operator.call('POST', `/admin/retention/${name}`, { json: {} })).status).toBe(422);
    }
    expect((await operator.call('POST', '/admin/retention/pause', { json: { reason: '' } })).status).toBe(422);
    expect((await operator.call('GET', '/admin/retention/plan?limit=1001')).status).toBe(422);
    for (const args of [['run', '--up-to', '2100-01-01'], ['confirm']]) expect((await command(...args)).code).toBe(2);
  });
});
