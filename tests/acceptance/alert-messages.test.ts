import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, made } from '../support/stack.ts';
import { useStack, type Caller, type Person } from '../support/use-stack.ts';
import { useStreams } from '../support/use-streams.ts';

const stack = useStack();
const streams = useStreams();
let owner: Person;
beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
});

const policy = { min_priority: 5, repeat_every: '30m', repeat_max: 5 };
type Topic = Awaited<ReturnType<typeof createTopic>>;

async function escalatingTopic(given: object = {}): Promise<Topic> {
  const topic = await createTopic(owner);
  await made(owner.put(`/api/topics/${topic.id}/escalation`, { ...policy, ...given }));
  return topic;
}

const bodies = {
  alertmanager: { receiver: 'tocsin', version: '4', groupKey: '{}/{}:{alertname="HighLoad"}' },
  grafana: {
    receiver: 'tocsin',
    title: 'HighLoad',
    message: 'load above 10',
    groupKey: '{}/{}:{alertname="HighLoad"}',
  },
} as const;
type Template = keyof typeof bodies;
interface Alert {
  readonly status?: string;
  readonly severity?: string;
  readonly fingerprint?: string;
}

/** Sends a notification of the group. */
function notify(
  { name }: Topic,
  status: 'firing' | 'resolved',
  {
    alerts = [{}],
    template = 'alertmanager',
    caller = owner,
    query = '',
  }: {
    alerts?: Alert[];
    template?: Template;
    caller?: Caller;
    query?: string;
  } = {},
) {
  const json = {
    ...bodies[template],
    status,
    alerts: alerts.map(({ status: own = status, severity = 'critical', fingerprint = 'c7d9' }) => ({
      status: own,
      labels: { alertname: 'HighLoad', severity },
      fingerprint,
    })),
  };
  return made(caller.post(`/${name}?template=${template}${query}`, json));
}
const ackOf = ({ id }: { id: string }) => `/api/messages/${id}/ack`;
const resolved = { kind: 'system', name: 'resolved' };

async function history({ name }: Topic): Promise<Record<string, unknown>[]> {
  return (await owner.get(`/${name}/json`)).body.messages;
}
async function recordTypes({ name }: Topic): Promise<string[]> {
  const { records } = (await owner.get(`/api/topics/${name}/log`)).body;
  return records.map(({ type }: { type: string }) => type);
}
const waiting = async ({ name }: Topic): Promise<{ id: string }[]> =>
  (await owner.get(`/api/messages/unacknowledged?topic=${name}`)).body;

describe.each(['alertmanager', 'grafana'] as const)('alerts of %s', (template) => {
  test('replace the message of their group in any order, and a resolved one acknowledges it', async () => {
    const topic = await escalatingTopic();
    const [one, two] = [{ fingerprint: '01' }, { fingerprint: '02' }];
    const first = await notify(topic, 'firing', { template, alerts: [one] });
    const grown = await notify(topic, 'firing', { template, alerts: [two, one] });
    expect(grown).toMatchObject({ id: first.id, requires_ack: true, is_edited: true });
    await eventually(async () => expect(await waiting(topic)).toMatchObject([{ id: first.id }]));
    const end = await notify(topic, 'resolved', { template, alerts: [two] });
    expect(end).toMatchObject({ requires_ack: false, is_edited: false, title: expect.stringContaining('✅') });
    expect(await history(topic)).toMatchObject([
      { id: first.id, acknowledged_by: resolved, acknowledged_at: expect.any(String) },
      { id: end.id, acknowledged_by: null },
    ]);
    expect(await recordTypes(topic)).toEqual(['message', 'message_edited', 'message_acknowledged', 'message']);
    expect(await waiting(topic)).toEqual([]);
  });
});

test('another alert of the same group is another message while they are notified separately', async () => {
  const topic = await escalatingTopic();
  const first = await notify(topic, 'firing', { alerts: [{ fingerprint: '01' }] });
  const second = await notify(topic, 'firing', { alerts: [{ fingerprint: '02' }] });
  expect(second.id).not.toBe(first.id);
  await notify(topic, 'resolved', { alerts: [{ fingerprint: '01' }] });
  expect(await history(topic)).toMatchObject([
    { id: first.id, acknowledged_by: resolved },
    { id: second.id, acknowledged_by: null },
    { priority: 3 },
  ]);
});

test('a resolved group ends the sequences of all its alerts', async () => {
  const topic = await escalatingTopic();
  const [one, two] = [{ fingerprint: '01' }, { fingerprint: '02' }];
  const first = await notify(topic, 'firing', { alerts: [one] });
  await notify(topic, 'firing', { alerts: [one, two] });
  expect((await notify(topic, 'firing', { alerts: [two] })).id).toBe(first.id);
  await notify(topic, 'resolved', { alerts: [two] });
  const ids = new Set([first.id]);
  for (const alerts of [[one], [one, two], [two]]) {
    ids.add((await notify(topic, 'firing', { alerts })).id);
    await notify(topic, 'resolved', { alerts });
  }
  expect(ids.size).toBe(4);
});

test('the next firing after a resolved alert is a new message that waits', async () => {
  const topic = await escalatingTopic();
  const first = await notify(topic, 'firing');
  await notify(topic, 'resolved');
  const next = await notify(topic, 'firing');
  expect(next).toMatchObject({ requires_ack: true, is_edited: false, acknowledged_at: null });
  expect(next.id).not.toBe(first.id);
  await eventually(async () => expect(await waiting(topic)).toMatchObject([{ id: next.id }]));
});

test('a group with a firing alert is not resolved', async () => {
  const topic = await escalatingTopic();
  const first = await notify(topic, 'firing', { alerts: [{ fingerprint: '01' }, { fingerprint: '02' }] });
  const partly = await notify(topic, 'firing', { alerts: [{ fingerprint: '01', status: 'resolved' }, {}] });
  expect(partly).toMatchObject({ id: first.id, acknowledged_at: null });
});

test('streams get the acknowledgement of a resolved alert', async () => {
  const topic = await escalatingTopic();
  const stream = await streams.open('sse', { topic: topic.name }, { token: owner.client.token });
  await stream.ready();
  const first = await notify(topic, 'firing');
  await notify(topic, 'resolved');
  await eventually(() =>
    expect(stream.ofType('message_acknowledged').map(({ data }) => [data.id, data.acknowledged_by])).toEqual([
      [first.id, resolved],
    ]),
  );
});

test('an acknowledgement by a person stays when the alert repeats and when it is resolved', async () => {
  const topic = await escalatingTopic();
  const first = await notify(topic, 'firing');
  const { acknowledged_at, acknowledged_by } = await made(owner.post(ackOf(first), {}));
  const repeated = await notify(topic, 'firing');
  expect(repeated).toMatchObject({ id: first.id, requires_ack: true, acknowledged_at, acknowledged_by });
  await notify(topic, 'resolved');
  expect((await history(topic))[0]).toMatchObject({ id: first.id, acknowledged_at, acknowledged_by });
  expect(await recordTypes(topic)).toEqual(['message', 'message_acknowledged', 'message_edited', 'message']);
});

test('without auto_ack_on_resolve or a policy, a resolved alert acknowledges nothing', async () => {
  for (const topic of [await escalatingTopic({ auto_ack_on_resolve: false }), await createTopic(owner)]) {
    const first = await notify(topic, 'firing');
    const end = await notify(topic, 'resolved');
    expect(await history(topic)).toMatchObject([
      { id: first.id, acknowledged_at: null },
      { id: end.id, acknowledged_at: null },
    ]);
    expect((await notify(topic, 'firing')).id).not.toBe(first.id);
  }
});

test('a resolved alert without an earlier message, or of another publisher, is a message', async () => {
  const topic = await escalatingTopic();
  expect(await notify(topic, 'resolved')).toMatchObject({ is_edited: false, acknowledged_at: null });
  const first = await notify(topic, 'firing');
  await notify(topic, 'resolved', { caller: await stack.person() });
  expect((await history(topic)).find(({ id }) => id === first.id)).toMatchObject({ acknowledged_at: null });
});

test('a sequence ID of the request takes precedence over that of the alert', async () => {
  const topic = await escalatingTopic();
  const query = '&sequence_id=of-mine';
  const first = await notify(topic, 'firing', { query });
  const others = await notify(topic, 'firing');
  expect(others.id).not.toBe(first.id);
  await notify(topic, 'resolved', { query });
  const acknowledged = (await history(topic)).filter(({ acknowledged_at: at }) => at !== null);
  expect(acknowledged.map(({ id }) => id)).toEqual([first.id]);
});

describe('a replacement', () => {
  const publish = ({ name }: Topic, priority: number) =>
    made(owner.post('/', { topic: name, message: `priority ${priority}`, priority, sequence_id: 'job' }));

  test('that reaches the minimum priority waits, and one below it ends that', async () => {
    const topic = await escalatingTopic();
    expect(await publish(topic, 4)).toMatchObject({ requires_ack: false });
    const raised = await publish(topic, 5);
    expect(raised).toMatchObject({ requires_ack: true, is_edited: true });
    await eventually(async () =>
      expect(await waiting(topic)).toMatchObject([{ id: raised.id, repeats: 0, next_repeat_at: expect.any(String) }]),
    );
    expect(await publish(topic, 4)).toMatchObject({ id: raised.id, requires_ack: false });
    await eventually(async () => expect(await waiting(topic)).toEqual([]));
    expect(await history(topic)).toMatchObject([{ id: raised.id, requires_ack: false }]);
  });

  test('that makes an acknowledged message require an acknowledgement withdraws the earlier one', async () => {
    const topic = await escalatingTopic();
    const first = await publish(topic, 4);
    await made(owner.post(ackOf(first), {}));
    expect(await publish(topic, 4)).toMatchObject({ id: first.id, acknowledged_at: expect.any(String) });
    expect(await publish(topic, 5)).toMatchObject({ id: first.id, requires_ack: true, acknowledged_at: null });
    await eventually(async () => expect(await waiting(topic)).toMatchObject([{ id: first.id }]));
    expect(await recordTypes(topic)).toEqual([
      'message',
      'message_acknowledged',
      'message_edited',
      'message_unacknowledged',
      'message_edited',
    ]);
  });
});
