import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { packageVersion } from '@tocsin/shared/runtime/package-version.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { runCommand, startCommand, type Ran } from '../support/run-command.ts';
import { createAccount, createTopic, openStackDocuments, testStack, type Account } from '../support/stack.ts';
import { useReceivers } from '../support/use-receiver.ts';

let store: OperatorStore;
beforeAll(async () => {
  store = await openStackDocuments();
});
afterAll(() => store.close());
const receivers = useReceivers();

/** The environment of a client of one of the nodes. */
function talkingTo(node: number, { client }: Account) {
  const { urls } = testStack();
  return { TOCSIN_URL: urls[node % urls.length], TOCSIN_TOKEN: client.token };
}

const run = (account: Account, args: readonly string[], input = '') => runCommand(args, input, talkingTo(1, account));

test('the command prints its version', async () => {
  expect(await runCommand(['--version'])).toMatchObject({ code: 0, out: `${packageVersion}\n`, error: '' });
});

test('a message published in one terminal reaches another and appears in the log once per consumer', async () => {
  const account = await createAccount(store);
  const topic = await createTopic(account, { is_private: true });
  const subscriber = startCommand(['subscribe', topic.name, '--since', 'all', '--json'], talkingTo(0, account));
  const events: { type: string; message: string; position: string }[] = [];
  createInterface(subscriber.stdout).on('line', (line) => events.push(JSON.parse(line)));

  const first = await run(account, [
    'publish',
    topic.name,
    'Nightly backup finished',
    '--title',
    'Backups',
    '--priority',
    'high',
    '--tags',
    'db,ok',
  ]);
  expect(first).toMatchObject({ code: 0, error: '' });
  await run(account, ['publish', topic.name, '--json'], 'from standard input\n');
  await eventually(() =>
    expect(events).toMatchObject([
      {
        type: 'message',
        id: first.out.trim(),
        title: 'Backups',
        message: 'Nightly backup finished',
        priority: 4,
        tags: ['db', 'ok'],
        position: `${topic.name}:${first.out.trim()}`,
      },
      { type: 'message', message: 'from standard input' },
    ]),
  );
  subscriber.kill('SIGTERM');

  const log = ['log', topic.name, '--consumer', 'archive'];
  expect((await run(account, [...log, '--limit', '1'])).out).toMatch(
    /^\d+ {2}\S+Z {2}message {2}Backups: Nightly backup finished\n$/,
  );
  expect((await run(account, log)).out).toMatch(/^\d+ {2}\S+Z {2}message {2}from standard input\n$/);
  expect(await run(account, log)).toEqual({ code: 0, out: '', error: '' });
}, 180_000); // six processes, each of which may take many seconds to start on a busy machine

test('subscribe and log print only what a filter selects, and a consumer moves past the rest', async () => {
  const account = await createAccount(store);
  const { name } = await createTopic(account);
  const filter = ['--priority-min', '4', '--priority-max', '5', '--tags', 'db,ok', '--search', 'DISK'];
  for (const [text, priority, tags] of [
    ['disk full', '5', 'ok'],
    ['disk full', '3', 'ok'],
    ['disk full', '5', 'door'],
    ['all well', '5', 'ok'],
  ] as const)
    await run(account, ['publish', name, text, '--priority', priority, '--tags', tags]);
  const printed: string[] = [];
  const subscriber = startCommand(['subscribe', name, '--since', 'all', ...filter], talkingTo(0, account));
  createInterface(subscriber.stdout).on('line', (line) => printed.push(line));
  const log = await run(account, ['log', name, '--consumer', 'archive', ...filter]);
  expect(log.out.match(/disk full/g)).toHaveLength(1);
  const { body } = await account.client.call('GET', `/api/topics/${name}/consumers/archive`);
  expect(body).toMatchObject({ offset: body.head, lag: 0 });
  await run(account, ['publish', name, 'disk lost', '--priority', '4', '--tags', 'db']);
  await eventually(() => expect(printed).toHaveLength(2));
  expect(printed[1]).toContain('disk lost');
  subscriber.kill();
});

test('publish sends where the message leads, its lifetime and its sequence', async () => {
  const account = await createAccount(store);
  const { name } = await createTopic(account);
  const { out } = await run(account, [
    ...['publish', name, 'The door is open', '--click', 'https://example.com/doors/4', '--json'],
    ...['--action', 'view, Floor plan, https://example.com/plan', '--action', 'ack, I have it'],
    ...['--icon', 'https://example.com/door.png', '--ttl', '1h', '--silent', '--sequence-id', 'door-4'],
  ]);
  const message = JSON.parse(out) as Record<string, unknown>;
  expect(message).toMatchObject({
    click: 'https://example.com/doors/4',
    actions: [{ action: 'view' }, { action: 'ack', label: 'I have it' }],
    icon_url: 'https://example.com/door.png',
    silent: true,
  });
  const again = await run(account, ['publish', name, 'The door is closed', '--sequence-id', 'door-4', '--json']);
  expect(JSON.parse(again.out)).toMatchObject({ id: message['id'], message: 'The door is closed', is_edited: true });
});
test('a message with a delay is listed with its time and can be cancelled', async () => {
  const account = await createAccount(store);
  const topic = await createTopic(account);
  const delayed = ['--delay', 'tomorrow, 10am', '--timezone', 'Asia/Tokyo'];
  const id = (await run(account, ['publish', topic.name, 'later', ...delayed])).out.trim();
  const listed = async () => (await run(account, ['scheduled', 'list', '--topic', topic.name])).out;
  expect(await listed()).toMatch(new RegExp(`^${id} {2}\\S+T01:00:00.000Z {2}scheduled {2}${topic.name} {2}later\n$`));
  expect(await run(account, ['scheduled', 'cancel', id])).toEqual({ code: 0, out: '', error: '' });
  expect(await listed()).toContain('cancelled');
  expect(await run(account, ['scheduled', 'cancel', 'x'])).toMatchObject({
    code: 1,
    error: 'scheduled_id: must be a UUID\n',
  });
}, 180_000);

test('ack acknowledges a message that waits, and --undo withdraws that', async () => {
  const account = await createAccount(store);
  const topic = await createTopic(account);
  const flags = ['--min-priority', '5', '--repeat-every', '30m', '--repeat-max', '5'];
  expect(await run(account, ['topic', 'escalation', topic.name, ...flags])).toMatchObject({ code: 0, error: '' });
  const id = (await run(account, ['publish', topic.name, 'pump stopped', '--priority', '5'])).out.trim();
  const waiting = async () => (await run(account, ['unacknowledged', '--topic', topic.name])).out;
  await eventually(
    async () =>
      expect(await waiting()).toMatch(
        new RegExp(`^${id} {2}\\S+Z {2}repeats: 0 {2}\\S+Z {2}- {2}${topic.name} {2}pump stopped\n$`),
      ),
    { timeoutMs: 60_000 },
  );
  const given = await run(account, ['ack', id, '--note', 'on my way', '--json']);
  const acknowledgement = {
    message_id: id,
    acknowledged_by: { kind: 'account', name: account.user.username },
    note: 'on my way',
  };
  expect(JSON.parse(given.out)).toMatchObject(acknowledgement);
  expect(await waiting()).toBe('');
  expect((await run(account, ['ack', id])).out).toContain(
    `acknowledged_by: ${account.user.username}\nnote: on my way\n`,
  );
  expect(await run(account, ['ack', id, '--undo'])).toEqual({ code: 0, out: '', error: '' });
  expect(JSON.parse((await run(account, ['unacknowledged', '--json'])).out)).toMatchObject([{ id }]);
  expect(await run(account, ['ack', randomUUID()])).toEqual({ code: 1, out: '', error: 'Message not found\n' });
  expect(await run(account, ['ack', id, '--undo', '--note', 'x'])).toMatchObject({ code: 2, out: '' });
}, 240_000);

test('topic escalation prints, sets, changes and deletes the policy of a topic', async () => {
  const account = await createAccount(store);
  const [topic, managers] = [await createTopic(account), await createTopic(account)];
  const escalation = (args: string[], input = '') => run(account, ['topic', 'escalation', topic.name, ...args], input);
  expect(await escalation([])).toEqual({ code: 1, out: '', error: 'Escalation policy not found\n' });
  expect(await escalation(['--min-priority', '4'])).toMatchObject({
    code: 1,
    error: expect.stringMatching(/repeat_every: .*repeat_max: /),
  });
  const policy = {
    min_priority: 5,
    repeat_every: '2m',
    repeat_max: 5,
    steps: [
      { after: '5m', to: { users: [account.user.id], team_role: null } },
      { after: '15m', to: { topic: managers.name } },
    ],
    auto_ack_on_resolve: true,
  };
  const set = await escalation(['--set', '-', '--json'], JSON.stringify(policy));
  expect(JSON.parse(set.out)).toEqual(policy);
  expect(await escalation(['--repeat-max', '3', '--no-auto-ack'])).toEqual({
    code: 0,
    error: '',
    out: [
      'min_priority: 5',
      'repeat_every: 2m',
      'repeat_max: 3',
      'auto_ack_on_resolve: false',
      `step 1: after 5m to ${account.user.id}`,
      `step 2: after 15m to topic ${managers.name}\n`,
    ].join('\n'),
  });
  expect(await escalation(['--set', '-'], 'no JSON')).toEqual({
    code: 1,
    out: '',
    error: 'Standard input is not JSON\n',
  });
  expect(await escalation(['--off', '--repeat-max', '3'])).toMatchObject({ code: 2, out: '' });
  expect(await escalation(['--off'])).toEqual({ code: 0, out: '', error: '' });
  expect(await escalation(['--json'])).toMatchObject({ code: 1, error: '{"error":"Escalation policy not found"}\n' });
}, 240_000);

test('exits with 1 and the reason if the server refuses, and with 2 on wrong usage', async () => {
  const account = await createAccount(store);
  expect(await run(account, ['publish', 'no-such-topic', 'text'])).toEqual({
    code: 1,
    out: '',
    error: 'Topic not found\n',
  });
  expect(await run(account, ['subscribe', 'no-such-topic'])).toEqual({ code: 1, out: '', error: 'Topic not found\n' });
  expect(await run(account, ['log', 'any', '--from-offset', '1', '--consumer', 'archive'])).toMatchObject({
    code: 2,
    out: '',
    error: expect.stringContaining('cannot be used with'),
  });
});

const configDir = mkdtempSync(join(tmpdir(), 'tocsin-config-'));
const workDir = mkdtempSync(join(tmpdir(), 'tocsin-work-'));
afterAll(() => [configDir, workDir].forEach((dir) => rmSync(dir, { recursive: true })));

/** Runs the command without TOCSIN_URL, in a directory whose .env names the port of the first node. */
function runWithEnvFile(args: readonly string[], input = ''): Promise<Ran> {
  const { hostname, port } = new URL(testStack().urls[0]!);
  writeFileSync(join(workDir, '.env'), `HOST=${hostname}\nPORT=${port}\n`);
  return runCommand(
    args,
    input,
    { XDG_CONFIG_HOME: configDir, TOCSIN_URL: undefined, TOCSIN_TOKEN: undefined },
    workDir,
  );
}

test('login stores a credential that topic create, publish and log use until logout', async () => {
  const { email, password } = await createAccount(store);
  const file = join(configDir, 'tocsin/credentials.json');
  const login = await runWithEnvFile(['login', email, '--password-stdin', '--json'], `${password}\n`);
  expect(login).toMatchObject({ code: 0, error: '' });
  expect(JSON.parse(login.out)).toEqual({ server: testStack().urls[0], email, file });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const name = `t-${randomUUID().slice(0, 8)}`;

  const created = await runWithEnvFile(['topic', 'create', name, '--private', '--json']);
  expect(JSON.parse(created.out)).toMatchObject({ name, access_level: 'private' });
  expect(await runWithEnvFile(['publish', name, 'Nightly backup finished'])).toMatchObject({ code: 0, error: '' });
  expect((await runWithEnvFile(['log', name])).out).toContain('Nightly backup finished');

  expect(await runWithEnvFile(['logout'])).toMatchObject({ code: 0, error: '' });
  expect(existsSync(file)).toBe(false);
  expect(await runWithEnvFile(['topic', 'create', name])).toMatchObject({ code: 1, out: '' });
}, 180_000);

test('login rejects a wrong password and stores nothing', async () => {
  const { email } = await createAccount(store);
  expect(await runWithEnvFile(['login', email, '--password-stdin'], 'wrong password')).toMatchObject({
    code: 1,
    out: '',
    error: expect.not.stringContaining('wrong password'),
  });
  expect(existsSync(join(configDir, 'tocsin/credentials.json'))).toBe(false);
});

test('prints errors as JSON with --json, with the same exit codes', async () => {
  const account = await createAccount(store);
  expect(await run(account, ['publish', 'no-such-topic', 'text', '--json'])).toEqual({
    code: 1,
    out: '',
    error: '{"error":"Topic not found"}\n',
  });
  const usage = await run(account, ['log', 'any', '--from-offset', 'x', '--json']);
  expect(usage).toMatchObject({ code: 2, out: '' });
  expect(JSON.parse(usage.error)).toEqual({ error: expect.stringContaining('whole number') });
});

test('sink creates, lists, tests, pauses, rewinds, resumes and deletes a sink of a topic', async () => {
  const account = await createAccount(store, { tier: 'TEAM' });
  const topic = await createTopic(account);
  const receiver = await receivers.start();
  const sink = (...args: string[]) => run(account, ['sink', ...args]);
  const created = await sink(
    ...['create', topic.name, `${receiver.url}/hook`, '--name', 'tickets', '--from', 'start', '--json'],
    ...[
      '--priority-min',
      '4',
      '--tags',
      'db,disk',
      '--search',
      'full',
      '--header',
      'X-Env: prod',
      '--header',
      'X-A: b:c',
    ],
  );
  const { secret, ...shown } = JSON.parse(created.out) as Record<string, unknown> & { id: string };
  expect(secret).toMatch(/^whsec_/);
  expect(shown).toMatchObject({
    kind: 'webhook',
    filter: { priority_min: 4, tags: ['db', 'disk'], q: 'full' },
    headers: { 'X-Env': 'prod', 'X-A': 'b:c' },
  });
  await run(account, ['publish', topic.name, 'disk full', '--priority', '5', '--tags', 'db']);
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  expect(await sink('test', topic.name, 'tickets')).toMatchObject({ code: 0, error: '' });
  await eventually(() => expect(receiver.requests.map(({ event }) => event.type)).toContain('tocsin.test'));
  await eventually(
    async () =>
      expect((await sink('deliveries', topic.name, shown.id)).out).toMatch(
        /^\S+Z {2}test {2,}delivered {2}204 {2}attempts: 1 .*\n\S+Z {2}offset: \d+ {2}delivered {2}204 .*\n$/,
      ),
    { timeoutMs: 60_000 },
  );
  expect((await sink('pause', topic.name, 'tickets')).out).toMatch(/^state: paused$/m);
  expect((await sink('rewind', topic.name, 'tickets', '--offset', '0')).out).toMatch(/^offset: 0$/m);
  expect((await sink('list', topic.name)).out).toMatch(
    new RegExp(`^${shown.id} {2}tickets {2}webhook {2}paused {2}offset: 0 {2}lag: 1 {2}delivered: 1 .*/hook\n$`),
  );
  expect((await sink('resume', topic.name, 'tickets')).out).toMatch(/^state: active$/m);
  await eventually(() => expect(receiver.requests).toHaveLength(3));
  expect(await sink('delete', topic.name, 'tickets')).toMatchObject({ code: 2, out: '' });
  expect(await sink('delete', topic.name, 'tickets', '--yes')).toEqual({ code: 0, out: '', error: '' });
  expect(await sink('pause', topic.name, 'tickets')).toEqual({ code: 1, out: '', error: 'Sink not found\n' });
}, 240_000); // fifteen processes, each of which may take many seconds to start on a busy machine

test('sink names the faults of its arguments, and an ambiguous name', async () => {
  const account = await createAccount(store, { tier: 'TEAM' });
  const topic = await createTopic(account);
  const create = ['sink', 'create', topic.name, 'https://hooks.example.com/'];
  expect(await run(account, create)).toMatchObject({ code: 2, error: expect.stringContaining('--name') });
  const named = [...create, '--name', 'twin'];
  expect(await run(account, [...named, '--header', 'no colon'])).toMatchObject({
    code: 2,
    error: expect.stringContaining("It must be like 'X-Env: prod'."),
  });
  for (let count = 0; count < 2; count += 1) expect(await run(account, named)).toMatchObject({ code: 0, error: '' });
  expect(await run(account, ['sink', 'resume', topic.name, 'twin'])).toEqual({
    code: 1,
    out: '',
    error: 'Several sinks are named twin: use an ID of `tocsin sink list`\n',
  });
});

test('audit actions lists the actions, and --help does not', async () => {
  const { out } = await runCommand(['audit', 'actions']);
  expect(out).toMatch(/^login\.failed$/m);
  expect((await runCommand(['audit', '--help'])).out).not.toContain('team.created');
  expect(await runCommand(['audit', '--action', 'nonsense'])).toMatchObject({
    code: 2,
    error: expect.stringContaining('tocsin audit actions'),
  });
});
