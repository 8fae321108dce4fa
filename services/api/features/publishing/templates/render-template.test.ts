import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { messageLimits } from '@tocsin/shared/domain/messages/message.ts';
import { renderTemplate } from './render-template.ts';

const fixture = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'fixtures', `${name}.json`));
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const render = (template: string, body: Buffer, headers = {}) => renderTemplate(template, body, headers);
const codePoints = (text: string): number => [...text].length;
const refusal = (template: string, body: Buffer, headers = {}): unknown => {
  try {
    return render(template, body, headers);
  } catch (error) {
    return { ...(error as object), message: (error as Error).message };
  }
};

describe('Alertmanager', () => {
  test('renders a firing group with its alerts', () => {
    expect(render('alertmanager', fixture('alertmanager-firing'))).toEqual({
      title: '🚨 Alert: InstanceDown (2 alerts)',
      message: [
        'Status: Firing',
        'Receiver: tocsin',
        '',
        'Alert: InstanceDown',
        'Instance: web-1.example.org:9100',
        'Severity: critical',
        'Summary: Instance web-1.example.org:9100 is down',
        'Description: web-1.example.org:9100 of job node has been down for more than 5 minutes.',
        'Starts at: 2026-11-20T09:52:26.739266876Z',
        'Source: http://prometheus.example.org:9090/graph?g0.expr=up+%3D%3D+0&g0.tab=1',
        '',
        'Alert: InstanceDown',
        'Status: resolved',
        'Instance: web-2.example.org:9100',
        'Severity: warning',
        'Summary: Instance web-2.example.org:9100 is down',
        'Description: web-2.example.org:9100 of job node has been down for more than 5 minutes.',
        'Starts at: 2026-11-20T09:52:26.739266876Z',
        'Ends at: 2026-11-20T10:01:26.739266876Z',
        'Source: http://prometheus.example.org:9090/graph?g0.expr=up+%3D%3D+0&g0.tab=1',
      ].join('\n'),
      priority: 5,
      tags: ['alertmanager', 'firing', 'critical'],
      sequenceIds: expect.arrayContaining([expect.stringMatching(/^[\w-]{43}$/)]),
      isResolved: false,
    });
  });

  test('renders a resolved group with low priority', () => {
    const rendered = render('alertmanager', fixture('alertmanager-resolved'));
    expect(rendered).toMatchObject({
      title: '✅ Resolved: InstanceDown',
      priority: 3,
      tags: ['alertmanager', 'resolved'],
    });
    expect(rendered.message).toContain('Ends at: 2026-11-20T10:12:26.739266876Z');
  });

  test.each([
    ['critical', 5],
    ['PAGE', 5],
    ['warning', 4],
    ['high', 4],
    ['', 4],
    ['info', 3],
  ])('maps the firing severity "%s" to priority %d', (severity, priority) => {
    const alerts = [
      { status: 'firing', labels: { alertname: 'A', severity } },
      { status: 'firing', labels: { alertname: 'B', severity: 'info' } },
    ];
    expect(render('alertmanager', json({ status: 'firing', alerts })).priority).toBe(priority);
  });

  test('shows the number of omitted alerts, and labels for an alert without a name', () => {
    const rendered = render(
      'alertmanager',
      json({ status: 'firing', truncatedAlerts: 7, alerts: [{ labels: { job: 'node', dc: 'eu' } }] }),
    );
    expect(rendered.title).toBe('🚨 Alert: job=node dc=eu (8 alerts)');
    expect(rendered.message).toContain('7 more alerts were left out by Alertmanager');
  });

  test.each([
    [{}, 'status: is required; alerts: is required'],
    [{ status: 'pending', alerts: [{ labels: {} }] }, 'status: must be one of firing, resolved'],
    [{ status: 'firing', alerts: [] }, 'alerts: must hold an alert'],
    [{ status: 'firing', alerts: [{ labels: { a: 1 } }] }, 'alerts.0.labels.a: must be a string'],
    [{ status: 'firing', alerts: { $ne: null } }, 'alerts: must be an array'],
  ])('refuses %j', (body, detail) => {
    expect(refusal('alertmanager', json(body))).toMatchObject({ code: 'unprocessable', message: detail });
  });
});

describe('Grafana', () => {
  test('uses the title and text of Grafana', () => {
    const rendered = render('grafana', fixture('grafana-firing'));
    expect(rendered).toMatchObject({
      title: '🚨 [FIRING:1] High memory usage (blue)',
      priority: 4,
      tags: ['grafana', 'firing'],
    });
    expect(rendered.message).toMatch(/^\*\*Firing\*\*\n\nValue: B=44[^]*edit$/);
    expect(render('grafana', fixture('grafana-resolved'))).toMatchObject({
      title: '✅ [RESOLVED] High memory usage (blue)',
      priority: 3,
      tags: ['grafana', 'resolved'],
    });
  });

  test('reads state from versions before 9', () => {
    expect(render('grafana', fixture('grafana-legacy'))).toEqual({
      title: '🚨 [Alerting] Panel Title alert',
      message: 'Notification Message',
      priority: 4,
      tags: ['grafana', 'firing'],
      sequenceIds: [],
      isResolved: false,
    });
  });

  test('without a text shows the alerts, and without alerts the title', () => {
    const alerts = [{ status: 'firing', labels: { alertname: 'Disk', severity: 'critical' } }];
    expect(render('grafana', json({ status: 'firing', alerts }))).toMatchObject({
      title: '🚨 Alert firing',
      message: 'Alert: Disk\nSeverity: critical',
      priority: 5,
    });
    expect(render('grafana', json({ status: 'nodata', title: ' ', message: '' }))).toMatchObject({
      title: '⚠️ Alert nodata',
      message: '⚠️ Alert nodata',
      priority: 3,
    });
  });

  test.each([
    [{}, 'status: is required'],
    [{ status: 5 }, 'status: must be a string'],
    [{ status: 'firing', alerts: 'x' }, 'alerts: must be an array'],
  ])('refuses %j', (body, detail) => {
    expect(refusal('grafana', json(body))).toMatchObject({ code: 'unprocessable', message: detail });
  });
});

describe('the sequences of an alert', () => {
  const alert = (fingerprint: string | null) => ({ status: 'firing', labels: { alertname: 'A' }, fingerprint });
  const sequencesOf = (fingerprints: (string | null)[], given = {}, template = 'alertmanager') =>
    render(template, json({ status: 'firing', alerts: fingerprints.map(alert), ...given })).sequenceIds;
  const group = { groupKey: '{}:{alertname="A"}' };

  test.each(['alertmanager', 'grafana'])('of %s are its fingerprint, then its group', (template) => {
    expect(sequencesOf(['1f'], {}, template)).toEqual(['1f']);
    expect(sequencesOf(['1f'], group, template)).toEqual(['1f', expect.stringMatching(/^[\w-]{43}$/)]);
  });

  test('of several alerts are their group, then their fingerprints in any order', () => {
    const [, ofGroup] = sequencesOf(['1f'], group);
    expect(sequencesOf(['2f', '1f', null], group)).toEqual([ofGroup, '1f', '2f']);
    expect(sequencesOf(['1f', '2f'])).toEqual(['1f', '2f']);
    expect(sequencesOf(['1f', '2f'], { groupKey: '{}:{alertname="B"}' })[0]).not.toBe(ofGroup);
    expect(
      sequencesOf(
        Array.from({ length: 300 }, (_, index) => `f${index}`),
        group,
      ),
    ).toHaveLength(100);
  });

  test('do not exist without a fingerprint or a group', () => {
    expect(sequencesOf([null])).toEqual([]);
  });

  test('obey the rule of sequence IDs', () => {
    for (const fingerprint of ['with space', 'ü', 'a'.repeat(129)])
      expect(sequencesOf([fingerprint])).toEqual([expect.stringMatching(/^[A-Za-z0-9._-]{1,128}$/)]);
  });
});

describe('GitHub', () => {
  const by = 'Sender: Codertocat\nRepository: https://github.com/Codertocat/Hello-World';
  test.each([
    ['ping', 'github-ping', '🔔 Webhook connected', 3, ['github', 'ping'], `Keep it logically awesome.\n${by}`],
    [
      'push',
      'github-push',
      '⬆️ 1 commit pushed to master',
      3,
      ['github', 'push'],
      `By: Codertocat\nChanges: https://github.com/Codertocat/Hello-World/compare/6113728f27ae...ec26c3e57ca3\nec26c3e Update README.md (Codertocat)\n${by}`,
    ],
    [
      'issues',
      'github-issues-opened',
      '🐛 Issue opened: #1: Spelling error in the README file',
      3,
      ['github', 'issues', 'opened'],
      `Author: Codertocat\nIssue: https://github.com/Codertocat/Hello-World/issues/1\n${by}\n\nIt looks like you accidently spelled 'commit' with two 't's.`,
    ],
    [
      'issue_comment',
      'github-issue-comment-created',
      '💬 New comment on #1: Spelling error in the README file',
      3,
      ['github', 'issue_comment', 'created'],
      `By: Codertocat\nComment: https://github.com/Codertocat/Hello-World/issues/1#issuecomment-492700400\n${by}\n\nYou are totally right! I'll get this fixed right away.`,
    ],
    [
      'pull_request',
      'github-pull-request-opened',
      '🔀 Pull request opened: #2: Update the README with new information.',
      3,
      ['github', 'pull_request', 'opened'],
      `Branch: changes → master\nAuthor: Codertocat\nPull request: https://github.com/Codertocat/Hello-World/pull/2\n${by}\n\nThis is a pretty simple change that we need to pull into master.`,
    ],
    [
      'pull_request',
      'github-pull-request-merged',
      '🔀 Pull request merged: #2: Update the README with new information.',
      3,
      ['github', 'pull_request', 'merged'],
      undefined,
    ],
    [
      'pull_request_review',
      'github-pull-request-review-submitted',
      '👓 Review changes requested: #2: Update the README with new information.',
      3,
      ['github', 'pull_request_review', 'changes_requested'],
      `By: Codertocat\nReview: https://github.com/Codertocat/Hello-World/pull/2#pullrequestreview-237895671\n${by}`,
    ],
    [
      'release',
      'github-release-published',
      '🏷️ Release published: 0.0.1',
      3,
      ['github', 'release', 'published'],
      undefined,
    ],
    [
      'workflow_run',
      'github-workflow-run-failed',
      '❌ Workflow test: failure',
      4,
      ['github', 'workflow_run', 'failure'],
      `Branch: master\nFor: Update README.md\nTriggered by: push\nWorkflow: https://github.com/Codertocat/Hello-World/actions/runs/289782451\n${by}`,
    ],
    ['star', 'github-star-created', '⭐ New star', 3, ['github', 'star', 'created'], by],
    [
      'dependabot_alert',
      'github-dependabot-alert-created',
      '🛡️ Security alert created: semver vulnerable to Regular Expression Denial of Service',
      4,
      ['github', 'dependabot_alert', 'medium'],
      undefined,
    ],
  ])('%s, identified by the header or by its keys (%s)', (...row) => {
    const [event, name, title, priority, tags, message] = row;
    const rendered = render('github', fixture(name), { 'x-github-event': event });
    expect(rendered).toMatchObject({ title: `${title} (Codertocat/Hello-World)`, priority, tags });
    if (message !== undefined) expect(rendered.message).toBe(message);
    expect(render('github', fixture(name))).toEqual(rendered);
  });

  test('renders an event without a specific text by its name', () => {
    expect(render('github', fixture('github-member-added'), { 'x-github-event': 'member' })).toEqual({
      title: '🐙 Member added (Codertocat/Hello-World)',
      message: by,
      priority: 3,
      tags: ['github', 'member', 'added'],
      sequenceIds: [],
      isResolved: false,
    });
    expect(render('github', fixture('github-member-added')).title).toBe('🐙 Event added (Codertocat/Hello-World)');
    for (const event of ['constructor', '__proto__'])
      expect(render('github', fixture('github-ping'), { 'x-github-event': event }).tags).toContain(event);
  });

  test('accepts JSON in a form, as GitHub sends by default', () => {
    const form = Buffer.from(new URLSearchParams({ payload: fixture('github-push').toString('utf8') }).toString());
    expect(render('github', form)).toEqual(render('github', fixture('github-push')));
  });

  test('truncates a long user text', () => {
    const payload = JSON.parse(fixture('github-issues-opened').toString('utf8'));
    payload.issue.body = '😀'.repeat(3_000);
    expect(codePoints(render('github', json(payload)).message.split('\n\n')[1]!)).toBe(2_000);
  });

  test.each([
    [{}, {}, 'body: is no webhook of GitHub: it has no repository, organization or sender'],
    [
      { action: 'opened', sender: { login: 'x' }, issue: { title: 5 } },
      {},
      'issue.number: is required; issue.title: must be a string',
    ],
    [{ sender: { login: 'x' } }, { 'x-github-event': 'push' }, 'ref: is required; commits: is required'],
    [{ sender: 'x' }, {}, 'sender: must be an object'],
  ])('refuses %j', (body, headers, detail) => {
    expect(refusal('github', json(body), headers)).toMatchObject({ code: 'unprocessable', message: detail });
  });
});

test.each(['discord', 'yes', '1', 'constructor', '__proto__', 'alertmanager2'])('refuses the template %s', (name) => {
  expect(refusal(name, json({}))).toMatchObject({
    code: 'unprocessable',
    message: 'template: must be one of alertmanager, grafana, github',
  });
});

test.each(['', 'plain text', '{"status":', '[]', 'null', '"x"', `${'['.repeat(60_000)}`])(
  'refuses the body %.10s',
  (text) => {
    for (const name of ['alertmanager', 'grafana', 'github']) {
      expect(refusal(name, Buffer.from(text))).toMatchObject({
        code: 'unprocessable',
        message: expect.stringMatching(/^body: must be/),
      });
    }
    expect(refusal('grafana', Buffer.from([0x7b, 0xff]))).toMatchObject({ message: 'body: must be valid UTF-8' });
  },
);

test('template names are case-insensitive', () => {
  expect(render(' Grafana ', fixture('grafana-firing')).tags).toContain('grafana');
});

test('truncates at a code point with an ellipsis', () => {
  const long = '👩'.repeat(5_000);
  const { title, message } = render('grafana', json({ status: 'firing', title: long, message: long }));
  expect([codePoints(title), codePoints(message)]).toEqual([
    messageLimits.titleCodePoints,
    messageLimits.textCodePoints,
  ]);
  for (const text of [title, message]) expect(text.endsWith('👩…') && text.isWellFormed()).toBe(true);
  const whole = '👩'.repeat(messageLimits.textCodePoints);
  expect(render('grafana', json({ status: 'firing', message: whole })).message).toBe(whole);
});

test('severities become valid tags within the limits of a message', () => {
  const alerts = Array.from({ length: 50 }, (_, index) => ({
    status: 'firing',
    labels: { alertname: 'a', severity: `${index}-${'x'.repeat(80)}` },
  }));
  const { tags } = render('alertmanager', json({ status: 'firing', alerts }));
  expect(tags).toHaveLength(messageLimits.tags);
  expect(Math.max(...tags.map(codePoints))).toBe(messageLimits.tagCodePoints);
  const halves = Buffer.from('{"status":"fi\\ud800","title":"\\udc00 t","message":"m\\ud83d"}');
  const rendered = render('grafana', halves);
  for (const text of [rendered.title, rendered.message, ...rendered.tags]) expect(text.isWellFormed()).toBe(true);
});
