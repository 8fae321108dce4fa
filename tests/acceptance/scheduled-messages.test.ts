import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Client, createTopic, made, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();

const patience = { intervalMs: 250 };
/** On an idle system a message is 2 seconds late at most; the machine of the tests is not idle. */
const latenessMsMax = 10_000;

interface Scheduled {
  readonly id: string;
  readonly topic: string;
  readonly message: string;
  readonly state: string;
  readonly reason: string | null;
}

const schedule = (client: Client, topic: string, headers: Record<string, string>, text = 'later'): Promise<Answer> =>
  client.call('POST', `/${topic}`, { text, headers });
const listOf = async (person: Person, query = ''): Promise<Scheduled[]> =>
  (await made(person.get(`/api/messages/scheduled${query}`))) as Scheduled[];
const stateOf = async (person: Person, id: string) => {
  const found = (await listOf(person)).find((one) => one.id === id);
  return found === undefined ? undefined : [found.state, found.reason, found.message];
};
const historyOf = async (topic: string): Promise<{ id: string; message: string; timestamp: string }[]> =>
  (await made(new Client().call('GET', `/${topic}/json`))).messages;

/**
 * Returns the result of `act`, which schedules messages and sends other requests before their delivery. Calls it again
 * with a longer delay if that was too short for the requests.
 */
const beforeDelivery = async <T>(act: (delay: string) => Promise<T>): Promise<T> => {
  for (const seconds of [10, 30, 60]) {
    const began = performance.now();
    const result = await act(`${seconds}s`);
    if (performance.now() - began < seconds * 1_000) return result;
  }
  throw new Error('60 seconds were too short for the requests before the delivery');
};

let owner: Person;
beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
});

test('the answer is the message with its time and without an offset, and it counts against the budget', async () => {
  const topic = await createTopic(owner);
  const person = await stack.person();
  const before = Date.now();
  const { status, headers, body } = await schedule(person.client, topic.name, {
    Delay: '30m',
    Title: 'T',
    TTL: '1h',
  });
  const after = Date.now();
  expect([status, headers.get('x-ratelimit-remaining'), headers.get('x-ignored')]).toEqual([200, '9', null]);
  expect(body).toMatchObject({ topic: topic.name, message: 'later', title: 'T', offset: null });
  const time = Date.parse(body.scheduled_for);
  expect(time).toBeGreaterThanOrEqual(before + 1_800_000);
  expect(time).toBeLessThanOrEqual(after + 1_800_000);
  expect([body.timestamp, Date.parse(body.expires_at)]).toEqual([body.scheduled_for, time + 3_600_000]);
  const now = await made(person.publish(topic.name));
  expect([typeof now.offset, 'scheduled_for' in now]).toEqual(['number', false]);
});

test.each(['Delay', 'X-Delay', 'At', 'X-At', 'In', 'X-In'])(
  'the header %s and the query name delay a publish',
  async (name) => {
    const topic = await createTopic(owner);
    const byHeader = await schedule(new Client(), topic.name, { [name]: '2 days' });
    const query = name.toLowerCase();
    const byQuery = await new Client().call('PUT', `/${topic.name}?${query}=tomorrow,%2010am&timezone=Asia/Tokyo`, {
      text: 'x',
    });
    expect([byHeader.body.offset, byQuery.body.offset]).toEqual([null, null]);
    // 10:00 in Tokyo
    expect(byQuery.body.scheduled_for).toMatch(/T01:00:00.000Z$/);
    expect(await historyOf(topic.name)).toEqual([]);
  },
);

test('the JSON publish takes a delay in its body or headers, and ignores an empty one', async () => {
  const topic = await createTopic(owner);
  const publish = (json: object, headers = {}) =>
    new Client().call('POST', '/', { json: { topic: topic.name, message: 'x', ...json }, headers });
  const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;
  const expected = new Date(inAnHour * 1_000).toISOString();
  for (const answer of [
    await publish({ delay: inAnHour }),
    await publish({ delay: String(inAnHour) }),
    await publish({ delay: expected }),
    await publish({}, { 'X-Delay': String(inAnHour) }),
  ]) {
    expect(answer.body).toMatchObject({ event: 'message', offset: null, scheduled_for: expected, time: inAnHour });
  }
  const local = new Date((inAnHour + 7_200) * 1_000).toISOString().slice(0, 19);
  // Two hours ahead of UTC
  expect((await publish({ delay: local, timezone: 'Etc/GMT-2' })).body.scheduled_for).toBe(expected);
  for (const delay of [null, '']) expect(typeof (await publish({ delay })).body.offset).toBe('number');
});

test.each([
  [{ Delay: '9s' }, 'delay: must be 10 seconds to 30 days ahead'],
  [{ Delay: '31 days' }, 'delay: must be 10 seconds to 30 days ahead'],
  [{ Delay: 'whenever' }, expect.stringMatching(/^delay: must be a duration/)],
  [{ Delay: '1h', Timezone: 'Mars/Olympus' }, expect.stringMatching(/^timezone: must be an IANA time zone/)],
  [{ Delay: '9s', Priority: '9' }, expect.stringMatching(/priority: must be .*; delay: must be/)],
])('%j is a 422 that names the field', async (headers, detail) => {
  const topic = await createTopic(owner);
  const answer = await schedule(new Client(), topic.name, headers as unknown as Record<string, string>);
  expect([answer.status, answer.body.detail]).toEqual([422, detail]);
  const repeated = await new Client().call('POST', `/${topic.name}?delay=1h&delay=2h`, { text: 'x' });
  expect([repeated.status, repeated.body.detail]).toEqual([422, 'delay: must be given once']);
});

test('a message is not visible before its time, and at its time it is published once, with its ID', async () => {
  const seenOf = async (topic: { id: string; name: string }) => {
    const log = (await made(new Client().call('GET', `/api/topics/${topic.name}/log`))).records;
    const found = await made(owner.get(`/api/messages/search?topic=${topic.name}&q=rare`));
    const recent = await made(owner.get(`/api/messages/recent?topic=${topic.name}`));
    const { message_count } = await made(owner.get(`/api/topics/${topic.name}`));
    const activity = await made(owner.get(`/api/messages/activity?topics=${topic.name}`));
    const history = await historyOf(topic.name);
    return [log.length, found.total, recent.length, message_count, activity.total, history.length];
  };
  const { topic, scheduled, seen, listed } = await beforeDelivery(async (delay) => {
    const topic = await createTopic(owner);
    await made(owner.post('/api/subscriptions', { topic_name: topic.name }));
    const scheduled = await made(schedule(new Client(), topic.name, { Delay: delay }, 'a rare word'));
    return { topic, scheduled, seen: await seenOf(topic), listed: await listOf(owner, `?topic=${topic.name}`) };
  });
  expect(seen).toEqual([0, 0, 0, 0, 0, 0]);
  expect(listed.map(({ id, state }) => [id, state])).toEqual([[scheduled.id, 'scheduled']]);
  await eventually(async () => expect(await seenOf(topic)).toEqual([1, 1, 1, 1, 1, 1]), patience);
  const [message] = await historyOf(topic.name);
  expect(message).toMatchObject({ id: scheduled.id, message: 'a rare word' });
  const latenessMs = Date.parse(message!.timestamp) - Date.parse(scheduled.scheduled_for);
  expect(latenessMs).toBeGreaterThanOrEqual(0);
  expect(latenessMs).toBeLessThan(latenessMsMax);
  await eventually(async () => expect(await stateOf(owner, scheduled.id)).toEqual(['delivered', null, 'a rare word']));
  const late = await owner.delete(`/api/messages/scheduled/${scheduled.id}`);
  expect([late.status, late.body.detail]).toEqual([409, 'Message was already delivered']);
});

test('an edit or deletion after the delivery also changes the list', async () => {
  const topic = await createTopic(owner);
  const { id } = await made(schedule(owner.client, topic.name, { In: '10s' }, 'one'));
  await eventually(async () => expect(await stateOf(owner, id)).toEqual(['delivered', null, 'one']), patience);
  await made(owner.patch(`/api/${topic.name}/messages/${id}`, { message: 'two' }));
  expect(await stateOf(owner, id)).toEqual(['delivered', null, 'two']);
  await made(owner.delete(`/api/${topic.name}/messages/${id}`));
  expect(await stateOf(owner, id)).toEqual(['delivered', null, '']);
});

test('a cancelled message is never published, has no content, and can be cancelled again', async () => {
  const { topic, id, kept, answers } = await beforeDelivery(async (delay) => {
    const topic = await createTopic(owner);
    const { id } = await made(schedule(new Client(), topic.name, { Delay: delay }));
    const kept = await made(schedule(new Client(), topic.name, { Delay: delay }, 'kept'));
    const cancel = () => owner.delete(`/api/messages/scheduled/${id}`);
    return { topic, id, kept, answers: [await cancel(), await cancel()] };
  });
  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [204, undefined],
    [204, undefined],
  ]);
  expect(await stateOf(owner, id)).toEqual(['cancelled', null, '']);
  await eventually(async () => expect(await stateOf(owner, kept.id)).toEqual(['delivered', null, 'kept']), patience);
  expect((await historyOf(topic.name)).map(({ message }) => message)).toEqual(['kept']);
});

test('a repeated publish with the same key returns the same message, before its time and after it', async () => {
  const client = new Client();
  const { topic, headers, all, listed } = await beforeDelivery(async (delay) => {
    const topic = await createTopic(owner);
    const headers = { Delay: delay, 'Idempotency-Key': randomUUID() };
    const concurrent = await Promise.all([1, 2, 3].map(() => schedule(client, topic.name, headers)));
    const all = [...concurrent, await schedule(client, topic.name, headers)];
    return { topic, headers, all, listed: await listOf(owner, `?topic=${topic.name}`) };
  });
  const answers = all.filter(({ status }) => status !== 409);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect(answers.at(-1)!.headers.get('idempotency-replayed')).toBe('true');
  expect(answers.at(-1)!.body).toEqual(answers[0]!.body);
  expect(listed).toHaveLength(1);
  await eventually(async () => expect(await historyOf(topic.name)).toHaveLength(1), patience);
  const { body } = await schedule(client, topic.name, headers);
  expect([body.id, typeof body.offset, 'scheduled_for' in body]).toEqual([answers[0]!.body.id, 'number', false]);
  const cancelled = { Delay: '1h', 'Idempotency-Key': randomUUID() };
  const { id } = await made(schedule(client, topic.name, cancelled));
  await owner.delete(`/api/messages/scheduled/${id}`);
  expect((await schedule(client, topic.name, cancelled)).body).toMatchObject({ id, message: '', is_deleted: true });
});

test('a message is dropped, with the reason, if its topic is gone or its publisher lost the right', async () => {
  const guest = await stack.person();
  const { topic, ids } = await beforeDelivery(async (delay) => {
    const leaver = await stack.person();
    const topic = await createTopic(owner);
    const [gone, closed] = [await createTopic(owner), await createTopic(owner)];
    const key = await made(owner.post('/api/keys', { name: 'k' }));
    const token = await made(
      owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['write'] }),
    );
    const delayed = { Delay: delay };
    const ids = {
      gone: (await made(schedule(guest.client, gone.name, delayed))).id,
      closed: (await made(schedule(guest.client, closed.name, delayed))).id,
      anonymous: (await made(schedule(new Client(), closed.name, delayed))).id,
      key: (await made(schedule(new Client(key.key), topic.name, delayed))).id,
      token: (await made(schedule(new Client(token.token), topic.name, delayed))).id,
      leaver: (await made(schedule(leaver.client, topic.name, delayed))).id,
      // A login that ends takes nothing away.
      kept: (await made(schedule(guest.client, topic.name, delayed))).id,
    };
    await made(owner.delete(`/api/topics/${gone.id}`));
    await made(owner.patch(`/api/topics/${closed.id}`, { access_level: 'private' }));
    await made(owner.post(`/api/keys/${key.id}/revoke`));
    await made(owner.delete(`/api/topics/${topic.name}/access-tokens/${token.id}`));
    await made(leaver.delete('/api/users/me', { password: leaver.password }));
    return { topic, ids };
  });
  const endedCredential = "The publisher's account or credential is no longer valid";
  await eventually(async () => {
    expect(await stateOf(guest, ids.gone)).toEqual(['dropped', 'Topic was deleted', '']);
    expect(await stateOf(guest, ids.closed)).toEqual(['dropped', 'Insufficient permissions to access this topic', '']);
    expect(await stateOf(owner, ids.anonymous)).toEqual([
      'dropped',
      'The topic takes no anonymous messages any more',
      '',
    ]);
    expect(await stateOf(owner, ids.key)).toEqual(['dropped', endedCredential, '']);
    expect(await stateOf(owner, ids.token)).toEqual(['dropped', endedCredential, '']);
    expect((await stateOf(owner, ids.leaver))?.[0]).toBe('dropped');
    expect(await stateOf(owner, ids.kept)).toEqual(['delivered', null, 'later']);
  }, patience);
  expect((await historyOf(topic.name)).map(({ id }) => id)).toEqual([ids.kept]);
  const late = await owner.delete(`/api/messages/scheduled/${ids.key}`);
  expect([late.status, late.body.detail]).toEqual([409, 'Message was already dropped']);
});

test('an account lists and cancels its own messages and those of topics that it manages', async () => {
  const [admin, member, stranger] = [await stack.person(), await stack.person(), await stack.person()];
  const team = await stack.team(owner, [
    [admin, 'admin'],
    [member, 'member'],
  ]);
  const topic = await createTopic(owner, { team_id: team, access_level: 'private' });
  const other = await createTopic(stranger);
  const byMember = (await made(schedule(member.client, topic.name, { Delay: '1h' }))).id;
  const byAdmin = (await made(schedule(admin.client, topic.name, { Delay: '2h' }))).id;
  const elsewhere = (await made(schedule(admin.client, other.name, { Delay: '3h' }))).id;
  const idsOf = async (person: Person, query = '') => (await listOf(person, query)).map(({ id }) => id);
  expect(await idsOf(admin)).toEqual([elsewhere, byAdmin, byMember]);
  expect(await idsOf(admin, `?topic=${topic.name}`)).toEqual([byAdmin, byMember]);
  expect(await idsOf(owner, `?topic=${topic.name}`)).toEqual([byAdmin, byMember]);
  expect(await idsOf(member)).toEqual([byMember]);
  expect(await idsOf(member, `?topic=${topic.name}`)).toEqual([byMember]);
  expect(await idsOf(stranger)).toEqual([elsewhere]);
  const { headers } = await admin.get('/api/messages/scheduled?limit=1&offset=1');
  expect(headers.get('x-total-count')).toBe('3');
  expect(await idsOf(admin, '?page=3&per_page=1')).toEqual([byMember]);
  const refused = [
    await member.delete(`/api/messages/scheduled/${byAdmin}`),
    await stranger.delete(`/api/messages/scheduled/${byMember}`),
    await admin.delete(`/api/messages/scheduled/${randomUUID()}`),
    await admin.delete('/api/messages/scheduled/x'),
    await stack.caller().delete(`/api/messages/scheduled/${byMember}`),
    await stack.caller().get('/api/messages/scheduled'),
    await stranger.get(`/api/messages/scheduled?topic=${topic.name}`),
    await stranger.get(`/api/messages/scheduled?topic=${randomUUID()}`),
  ];
  expect(refused.map(({ status }) => status)).toEqual([404, 404, 404, 422, 401, 401, 403, 404]);
  for (const [person, id] of [
    [admin, byMember],
    [member, byMember],
    [stranger, elsewhere],
  ] as const)
    expect((await person.delete(`/api/messages/scheduled/${id}`)).status).toBe(204);
});

test('an API key needs `topics:write` to cancel messages of others, and a topic token cannot cancel', async () => {
  const topic = await createTopic(owner);
  const keyed = await made(owner.post('/api/keys', { name: 'k', scopes: ['publish'] }));
  const client = new Client(keyed.key);
  const own = (await made(schedule(client, topic.name, { Delay: '1h' }))).id;
  const others = (await made(schedule(new Client(), topic.name, { Delay: '1h' }))).id;
  const cancel = (by: Client, id: string) => by.call('DELETE', `/api/messages/scheduled/${id}`);
  expect((await cancel(client, own)).status).toBe(204);
  const refused = await cancel(client, others);
  expect([refused.status, refused.body.detail]).toEqual([403, 'Missing scope: topics:write']);
  expect((await client.call('GET', '/api/messages/scheduled')).status).toBe(403);
  const token = await made(
    owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['write'] }),
  );
  expect((await cancel(new Client(token.token), others)).status).toBe(403);
});

test('the export of an account contains its waiting messages', async () => {
  const [person, topic] = [await stack.person(), await createTopic(owner)];
  const own = await createTopic(person);
  const ids = [
    (await made(schedule(new Client(), own.name, { Delay: '1h' }, 'in my topic'))).id,
    (await made(schedule(person.client, topic.name, { Delay: '1h' }, 'by me'))).id,
  ];
  const { scheduled_messages } = await made(person.get('/api/users/me/data'));
  expect((scheduled_messages as Scheduled[]).map(({ id, message, state }) => [id, message, state])).toEqual([
    [ids[0], 'in my topic', 'scheduled'],
    [ids[1], 'by me', 'scheduled'],
  ]);
});
