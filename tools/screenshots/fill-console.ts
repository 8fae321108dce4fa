import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { made, type Client } from '../../tests/support/stack.ts';

interface SampleMessage {
  readonly topic: string;
  readonly text: string;
  readonly title?: string;
  readonly priority?: number;
  readonly tags?: string;
  readonly isMarkdown?: boolean;
}

const topics = [
  { name: 'alerts', description: 'Alerts of the production cluster', icon_name: 'bell', icon_color: '#D9480F' },
  { name: 'backups', description: 'Results of the nightly backups', icon_name: 'archive', icon_color: '#2B8A3E' },
  { name: 'deploys', description: 'Releases of all services', icon_name: 'rocket', icon_color: '#1864AB' },
  { name: 'front-door', description: 'The door of the office', access_level: 'private' },
] as const;

const messages: readonly SampleMessage[] = [
  { topic: 'front-door', text: 'Opened with the card of the cleaning service', tags: 'door' },
  { topic: 'backups', title: 'Backup finished', text: '412 GB in 38 minutes', tags: 'white_check_mark,db' },
  { topic: 'backups', title: 'Backup skipped', text: 'Volume `logs` has no changes', isMarkdown: true, priority: 2 },
  { topic: 'deploys', title: 'billing 4.12.0', text: 'Rolled out to 3 of 3 regions', tags: 'rocket' },
  { topic: 'deploys', title: 'search 2.8.1', text: 'Rolled back: error rate of 2.1 %', tags: 'rewind', priority: 4 },
  { topic: 'alerts', title: 'Disk usage', text: 'db-1: /var/lib/postgresql is 82 % full', tags: 'warning,db' },
  {
    topic: 'alerts',
    title: 'Latency',
    text: 'p99 of the API is 840 ms (limit: 500 ms)',
    tags: 'snail,api',
    priority: 4,
  },
  {
    topic: 'alerts',
    title: 'Replica is down',
    text: '**db-2** has not answered for 60 s.\n\n- Writes continue on db-1\n- Runbook: [replace a replica](https://wiki.example.org/db)',
    tags: 'rotating_light,db',
    priority: 5,
    isMarkdown: true,
  },
  { topic: 'alerts', title: 'Latency', text: 'p99 of the API is back at 210 ms', tags: 'white_check_mark,api' },
  { topic: 'alerts', title: 'Certificate', text: 'api.example.org expires in 14 days', tags: 'lock', priority: 2 },
];

/** Fills the account with topics, messages, subscriptions, devices and a team. Resolves with the team's ID. */
export async function fillConsole(client: Client, expo: ExpoSimulator): Promise<{ teamId: string }> {
  for (const json of topics) await made(client.call('POST', '/api/topics', { json }));
  for (const { name } of topics)
    await made(
      client.call('POST', '/api/subscriptions', { json: { topic_name: name, mobile_notification_settings: pushes } }),
    );
  // Before the messages, whose pushes would deactivate the tablet.
  await testDevices(client, expo);
  const team = (await made(
    client.call('POST', '/api/teams', {
      json: { name: 'platform', display_name: 'Platform', description: 'Runs the production cluster' },
    }),
  )) as { id: string };
  for (const json of invites) await made(client.call('POST', `/api/teams/${team.id}/invites`, { json }));
  await made(
    client.call('POST', '/api/topics', {
      json: { name: 'on-call', team_id: team.id, description: 'On-call schedule' },
    }),
  );
  const alerts = (await made(client.call('GET', '/api/topics/alerts'))) as { id: string };
  await made(client.call('PUT', `/api/topics/${alerts.id}/escalation`, { json: policy }));
  for (const message of messages) await publish(client, message);
  await made(client.call('PUT', '/api/topics/alerts/consumers/archive', { json: { offset: 3 } }));
  return { teamId: team.id };
}

/** The message of priority 5 waits for an acknowledgement. */
const policy = {
  min_priority: 5,
  repeat_every: '2m',
  repeat_max: 5,
  steps: [{ after: '10m', to: { topic: 'on-call' } }],
};

const pushes = {
  priority_threshold: 3,
  quiet_hours: { start: '22:00', end: '07:00', timezone: 'Europe/Berlin', allow_priority: 5 },
};

const devices = [
  { push_token: 'ExponentPushToken[tablet]', platform: 'expo', device_id: 'tablet', device_name: 'Tablet at the door' },
  {
    push_token: 'ExponentPushToken[phone]',
    platform: 'expo',
    device_id: 'phone',
    device_name: 'Pixel',
    app_version: '2.4',
  },
] as const;

const invites = [
  { email: 'on-call@example.org', role: 'admin' },
  { email: 'builds@example.org', role: 'member' },
] as const;

/** Registers the devices and sends each a test push, which the tablet's dead token rejects. */
async function testDevices(client: Client, expo: ExpoSimulator): Promise<void> {
  expo.script(devices[0].push_token, { kind: 'ticket-error', error: 'DeviceNotRegistered' });
  for (const json of devices) {
    const { id } = (await made(client.call('POST', '/api/devices/register', { json }))) as { id: string };
    await made(client.call('POST', `/api/devices/${id}/test`));
    await eventually(async () => {
      const { body } = await client.call('GET', `/api/devices/${id}`);
      return body.last_test.status !== 'queued';
    });
  }
}

function publish(client: Client, { topic, text, title, priority, tags, isMarkdown }: SampleMessage): Promise<unknown> {
  const json = { topic, message: text, title, priority, tags: tags?.split(','), markdown: isMarkdown };
  return made(client.call('POST', '/', { json }));
}
