import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Client, createTopic, testStack, type Account } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { asReader } from '../support/as-reader.ts';

const stack = useStack();
let owner: Person;
let name: string;
let token: string;

beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  ({ name } = await createTopic(owner as Account, { access_level: 'private' }));
  token = (await owner.post(`/api/topics/${name}/access-tokens`, { name: 'publisher', permissions: ['write'] })).body
    .token;
});

/** A request as its sender puts it on the wire. `TOPIC` and `TOKEN` are placeholders. */
interface Recording {
  readonly sender: string;
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly expected: Readonly<Record<string, unknown>>;
}

const json = (value: unknown) => JSON.stringify(value);
const basic = 'BASIC';

/** From the sources of the senders, each with the settings that its users have. */
const recordings: readonly Recording[] = [
  {
    sender: 'Uptime Kuma, a monitor that is down',
    method: 'POST',
    path: '/',
    headers: {
      Accept: 'application/json, text/plain, */*',
      'Content-Type': 'application/json',
      'User-Agent': 'axios/0.30.2',
      Authorization: 'Bearer TOKEN',
      'X-Call': 'yes',
    },
    body: json({
      topic: 'TOPIC',
      message: 'connect ECONNREFUSED 127.0.0.1:80',
      priority: 5,
      title: 'Shop 🛒 Down [Uptime-Kuma]',
      tags: ['red_circle', 'env: prod'],
      actions: [{ action: 'view', label: 'Open Shop 🛒', url: 'https://shop.example.org' }],
      icon: 'https://shop.example.org/icon.png',
    }),
    expected: {
      title: 'Shop 🛒 Down [Uptime-Kuma]',
      message: 'connect ECONNREFUSED 127.0.0.1:80',
      priority: 5,
      tags: ['red_circle', 'env: prod'],
    },
  },
  {
    sender: 'Uptime Kuma, its test',
    method: 'POST',
    path: '/',
    headers: { 'Content-Type': 'application/json', Authorization: basic },
    body: json({
      topic: 'TOPIC',
      title: 'Shop [Uptime-Kuma]',
      message: 'Shop Testing',
      priority: 4,
      tags: ['test_tube'],
    }),
    expected: { priority: 4, tags: ['test_tube'] },
  },
  {
    sender: 'Gatus',
    method: 'POST',
    path: '/',
    headers: {
      'User-Agent': 'Go-http-client/1.1',
      'Content-Type': 'application/json',
      Authorization: 'Bearer TOKEN',
      'Accept-Encoding': 'gzip',
    },
    body: json({
      topic: 'TOPIC',
      title: 'Gatus: core/front-end',
      message:
        'An alert has been triggered due to having failed 3 time(s) in a row with the following description: \n🔴 [STATUS] == 200',
      tags: ['x'],
      priority: 3,
      email: 'a@example.org',
      click: 'https://example.org',
    }),
    expected: { title: 'Gatus: core/front-end', tags: ['x'], priority: 3 },
  },
  {
    sender: 'Healthchecks',
    method: 'POST',
    path: '/',
    headers: { 'User-Agent': 'healthchecks.io', 'Content-Type': 'application/json', Authorization: 'Bearer TOKEN' },
    body: json({
      topic: 'TOPIC',
      priority: 5,
      title: '“Backups” is DOWN',
      message: '“Backups” is DOWN (success signal did not arrive on time, grace time passed).\n\nProject: db',
      tags: ['red_circle'],
      actions: [{ action: 'view', label: 'View on Healthchecks', url: 'https://hc.example.org/cloaked/1/' }],
    }),
    expected: { title: '“Backups” is DOWN', priority: 5, tags: ['red_circle'] },
  },
  {
    sender: 'Sonarr',
    method: 'POST',
    path: '/TOPIC',
    headers: {
      'User-Agent': 'Sonarr/4.0.16',
      'X-Title': 'Sonarr - Episode Grabbed',
      'X-Message': 'The Show - 1x01 - Pilot [WEBDL-1080p]',
      'X-Priority': '3',
      'X-Tags': 'tv,grabbed',
      'X-Click': 'https://example.org',
      Authorization: basic,
      'Content-Length': '0',
    },
    body: '',
    expected: {
      title: 'Sonarr - Episode Grabbed',
      message: 'The Show - 1x01 - Pilot [WEBDL-1080p]',
      priority: 3,
      tags: ['tv', 'grabbed'],
    },
  },
  {
    sender: 'shoutrrr (Watchtower, Scrutiny)',
    method: 'POST',
    path: '/TOPIC',
    headers: {
      'User-Agent': 'shoutrrr/v0.8.0',
      Title: 'Watchtower updates',
      Priority: 'high',
      Tags: 'whale,update',
      Actions: 'view, Open, https://example.org;http, Do, https://example.org',
      Click: 'https://example.org',
      Attach: 'https://example.org/a',
      'X-Icon': 'https://example.org/i.png',
      Filename: 'a',
      Email: 'a@example.org',
      Cache: 'no',
      Firebase: 'no',
      Authorization: basic,
      'Accept-Encoding': 'gzip',
    },
    body: 'Found new image: nginx:latest (sha256:abcdef)',
    expected: {
      title: 'Watchtower updates',
      message: 'Found new image: nginx:latest (sha256:abcdef)',
      priority: 4,
      tags: ['whale', 'update'],
    },
  },
  {
    sender: 'the ntfy command',
    method: 'POST',
    path: '/TOPIC',
    headers: {
      'User-Agent': 'Go-http-client/1.1',
      'X-Title': 'Hi',
      'X-Priority': 'urgent',
      'X-Tags': 'a,b',
      'X-Markdown': 'yes',
      'X-Cache': 'no',
      'X-Firebase': 'no',
      Authorization: 'Bearer TOKEN',
    },
    body: '**bold**',
    expected: { title: 'Hi', priority: 5, markdown: true },
  },
  {
    sender: 'Home Assistant (aiontfy), which sends null for unset fields',
    method: 'POST',
    path: '/',
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'aiontfy/0.8.0', Authorization: 'Bearer TOKEN' },
    body: json({
      topic: 'TOPIC',
      message: 'Door open',
      title: null,
      tags: [],
      priority: null,
      click: null,
      delay: null,
      email: null,
      call: null,
      attach: null,
      filename: null,
      icon: null,
      actions: [],
      markdown: false,
      sequence_id: null,
    }),
    expected: {
      message: 'Door open',
      title: null,
      priority: 3,
      tags: [],
      markdown: false,
      event: 'message',
      time: expect.any(Number),
      expires: expect.any(Number),
    },
  },
  {
    sender: 'Overseerr',
    method: 'POST',
    path: '/',
    headers: { 'Content-Type': 'application/json', Authorization: basic },
    body: json({
      topic: 'TOPIC',
      priority: 3,
      title: 'Movie Request Pending Approval',
      message: 'The Movie (2026)\n\n**Requested By:** someone',
      markdown: true,
      attach: 'https://example.org/poster.jpg',
      actions: [],
    }),
    expected: { markdown: true, priority: 3 },
  },
  {
    sender: 'Alertmanager',
    method: 'POST',
    path: '/TOPIC?template=alertmanager',
    headers: { 'User-Agent': 'Alertmanager/0.29.0', 'Content-Type': 'application/json', Authorization: 'Bearer TOKEN' },
    body: fixture('alertmanager-firing'),
    expected: { title: '🚨 Alert: InstanceDown (2 alerts)', priority: 5, tags: ['alertmanager', 'firing', 'critical'] },
  },
  {
    sender: 'Grafana',
    method: 'POST',
    path: '/TOPIC?tpl=grafana',
    headers: { 'User-Agent': 'Grafana', 'Content-Type': 'application/json', Authorization: basic },
    body: fixture('grafana-resolved'),
    expected: { title: '✅ [RESOLVED] High memory usage (blue)', priority: 3, tags: ['grafana', 'resolved'] },
  },
  {
    sender: 'Grafana with PUT and custom headers',
    method: 'PUT',
    path: '/TOPIC',
    headers: {
      'User-Agent': 'Grafana',
      'Content-Type': 'application/json',
      Authorization: basic,
      'X-Template': 'grafana',
      'X-Priority': 'max',
      'X-Tags': 'blue',
      Title: 'Memory',
    },
    body: fixture('grafana-firing'),
    expected: { title: 'Memory', priority: 5, tags: ['blue', 'grafana', 'firing'] },
  },
  {
    sender: 'GitHub',
    method: 'POST',
    path: '/TOPIC?template=github&auth=AUTH',
    headers: {
      'User-Agent': 'GitHub-Hookshot/044aadd',
      'Content-Type': 'application/json',
      'X-GitHub-Event': 'workflow_run',
      'X-GitHub-Delivery': '0b989ba4-242f-11e5-81e1-c7b6966d2516',
    },
    body: fixture('github-workflow-run-failed'),
    expected: {
      title: '❌ Workflow test: failure (Codertocat/Hello-World)',
      priority: 4,
      tags: ['github', 'workflow_run', 'failure'],
    },
  },
  {
    sender: 'GitHub with a form, as it sends by default',
    method: 'POST',
    path: '/TOPIC?Template=github&auth=AUTH',
    headers: {
      'User-Agent': 'GitHub-Hookshot/044aadd',
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-GitHub-Event': 'issues',
    },
    body: new URLSearchParams({ payload: fixture('github-issues-opened') }).toString(),
    expected: {
      title: '🐛 Issue opened: #1: Spelling error in the README file (Codertocat/Hello-World)',
      tags: ['github', 'issues', 'opened'],
    },
  },
];

function fixture(file: string): string {
  return readFileSync(
    join(import.meta.dirname, '../../services/api/features/publishing/templates/fixtures', `${file}.json`),
    'utf8',
  );
}

/** Sends the recorded bytes and resolves with status and body. */
function replay({ method, path, headers, body }: Recording): Promise<{ status: number; body: unknown }> {
  const filled = (text: string) =>
    text
      .replaceAll('TOPIC', name)
      .replaceAll('TOKEN', token)
      .replaceAll('AUTH', Buffer.from(`Bearer ${token}`).toString('base64url'))
      .replaceAll('BASIC', `Basic ${Buffer.from(`user:${token}`).toString('base64')}`);
  const sent = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, filled(value)]));
  const bytes = Buffer.from(filled(body));
  return new Promise((resolve, reject) => {
    const outgoing = request(
      testStack().urls[0]! + filled(path),
      { method, headers: { 'Content-Length': bytes.length, ...sent, 'X-Forwarded-For': new Client().address } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode!, body: JSON.parse(Buffer.concat(chunks).toString()) }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

test.each(recordings.map((recording) => [recording.sender, recording] as const))(
  'accepts requests of %s',
  async (_sender, recording) => {
    const { status, body } = await replay(recording);
    expect({ status, body }).toMatchObject({ status: 200, body: { topic: name, ...recording.expected } });
    const read = await owner.get(`/${name}/json?limit=1`);
    expect(body).toMatchObject(asReader(read.body.messages[0]));
  },
);

describe('a template', () => {
  const send = (query: string, text: string, headers = {}) =>
    owner.client.call('POST', `/${name}${query}`, { text, headers });

  test.each(['discord', 'yes', '1'])('%s is not a template', async (template) => {
    const refused = { status: 422, body: { detail: 'template: must be one of alertmanager, grafana, github' } };
    expect(await send(`?template=${template}`, '{}')).toMatchObject(refused);
    expect(await send('', '{}', { 'X-Template': template })).toMatchObject(refused);
  });

  test.each([
    ['alertmanager', '{"status":"firing"}', 'alerts: is required'],
    ['grafana', '{}', 'status: is required'],
    ['github', '{}', 'body: is no webhook of GitHub: it has no repository, organization or sender'],
    ['grafana', 'Disk full', 'body: must be JSON for a template'],
    ['github', '', 'body: must be JSON for a template'],
    ['alertmanager', '[]', 'body: must be a JSON object for a template'],
  ])('%s does not accept %s', async (template, text, detail) => {
    expect(await send(`?tpl=${template}`, text)).toMatchObject({ status: 422, body: { detail } });
  });

  test('given twice returns 422, and a blank one is ignored', async () => {
    expect(await send('?template=grafana&template=grafana', '{}')).toMatchObject({
      status: 422,
      body: { detail: 'template: must be given once' },
    });
    expect(await send('?template=', 'text')).toMatchObject({ status: 200, body: { message: 'text' } });
  });

  test('truncates texts at 4,000 characters and refuses bodies beyond the limit', async () => {
    const long = await send('?template=grafana', json({ status: 'firing', message: '😀'.repeat(5_000) }));
    expect([...long.body.message]).toHaveLength(4_000);
    expect((await send('?template=grafana', json({ status: 'firing', message: 'x'.repeat(65_536) }))).status).toBe(413);
  });

  test('changes nothing in a topic without publish access', async () => {
    expect((await new Client().call('POST', `/${name}?template=nonsense`, { text: '{}' })).status).toBe(401);
  });
});
