import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { newMember, newTeam } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { runCommand } from '../support/run-command.ts';
import { Client, createAccount, createTopic, type Account } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const expo = await startExpoSimulator();
// A failed push is retried once.
const { stack, store } = await useOwnStack({
  RATE_LIMITS: 'off',
  EXPO_URL: expo.url,
  PUSH_RETRY_SECONDS: '1',
  ADMIN_TOKEN: 'the-operator-of-the-tests',
});
afterAll(() => expo.close());

const operator = new Client('the-operator-of-the-tests', stack.urls);
const person = (): Promise<Account> => createAccount(store, { tier: 'TEAM', urls: stack.urls });

/** A subscriber of the topic and the push token of their phone. */
async function subscriber(topicName: string): Promise<{ account: Account; token: string }> {
  const account = await person();
  const token = `ExponentPushToken[${randomUUID()}]`;
  expect(
    (
      await account.client.call('POST', '/api/devices/register', {
        json: { push_token: token, platform: 'expo', device_id: 'phone' },
      })
    ).status,
  ).toBe(201);
  expect((await account.client.call('POST', '/api/subscriptions', { json: { topic_name: topicName } })).status).toBe(
    201,
  );
  return { account, token };
}

async function publish({ client }: Account, topicName: string): Promise<string> {
  const { status, body } = await client.call('POST', `/${topicName}`, { text: 'the pump stopped' });
  expect(status).toBe(200);
  return body.id;
}

const pushesTo = (token: string) => expo.pushes.flatMap((push) => (push.token === token ? [push.messageId] : []));
const countsOf = async ({ client }: Account, messageId: string) =>
  (await client.call('GET', `/api/messages/${messageId}/deliveries`)).body.counts;

/** Runs `tocsin push …` next to the running stack. */
const command = (...args: string[]) => runCommand(['push', ...args], '', stack.env);

describe('a dead letter', () => {
  const deadLetters = (topic: string) => operator.call('GET', `/admin/push/dead-letters?topic=${topic}`);

  test('is listed for the operator and sent after a redrive by API or command', async () => {
    const owner = await person();
    const topic = await createTopic(owner);
    const { token } = await subscriber(topic.name);
    expo.script(token, { kind: 'status', status: 503 });
    const ids = [await publish(owner, topic.name), await publish(owner, topic.name)];
    await eventually(async () => expect((await deadLetters(topic.name)).body).toHaveLength(2));
    expect(await countsOf(owner, ids[0]!)).toMatchObject({ failed: 1 });
    const { body } = await deadLetters(topic.name);
    for (const message_id of ids) {
      expect(body).toContainEqual({
        id: expect.any(String),
        message_id,
        topic_id: topic.id,
        topic: topic.name,
        devices: 1,
        reason: '1 pushes failed for too long',
        failed_at: expect.any(String),
      });
    }
    expect((await operator.call('GET', `/admin/push/dead-letters?message_id=${ids[0]}`)).body).toMatchObject([
      { message_id: ids[0] },
    ]);
    expect((await operator.call('GET', `/admin/push/dead-letters?topic=${topic.name}&limit=1`)).body).toEqual(
      body.slice(0, 1),
    );
    expect(JSON.parse((await command('dead', '--topic', topic.name, '--json')).out)).toEqual(body);

    expo.script(token, { kind: 'ok' });
    expect(await command('redrive', '--message', ids[0]!)).toMatchObject({ code: 0, out: 'redriven: 1\n' });
    await eventually(() => expect(pushesTo(token)).toEqual([ids[0]]));
    const redrive = () => operator.call('POST', '/admin/push/dead-letters/redrive', { json: { topic: topic.name } });
    expect(await redrive()).toMatchObject({ status: 200, body: { redriven: 1 } });
    await eventually(() => expect(pushesTo(token)).toEqual(ids));
    expect((await deadLetters(topic.name)).body).toEqual([]);
    expect(await redrive()).toMatchObject({ status: 200, body: { redriven: 0 } });
  });

  test('requires the operator and a selection', async () => {
    const [path, stranger] = ['/admin/push/dead-letters', await person()];
    for (const [method, at] of [
      ['GET', path],
      ['POST', `${path}/redrive`],
    ] as const) {
      expect((await new Client(undefined, stack.urls).call(method, at)).status).toBe(401);
      expect((await stranger.client.call(method, at)).status).toBe(401);
    }
    expect(await operator.call('GET', `${path}?topic=no-such-topic`)).toMatchObject({
      status: 404,
      body: { detail: 'Topic not found' },
    });
    expect((await operator.call('GET', `${path}?limit=1001`)).status).toBe(422);
    for (const json of [{}, { topic: 't', all: true }, { all: false }, { message_id: 'x' }]) {
      expect((await operator.call('POST', `${path}/redrive`, { json })).status).toBe(422);
    }
    expect((await operator.call('POST', `${path}/redrive`, { json: { topic: 'no-such-topic' } })).status).toBe(404);
    expect(await command('redrive')).toMatchObject({
      code: 2,
      error: expect.stringContaining('--topic, --message or --all'),
    });
  });
});

describe('renotifying a message that some recipients missed', () => {
  /** Refused permanently at first and accepted later. */
  const missesOne = (token: string): void =>
    expo.script(token, { kind: 'ticket-error', error: 'MessageTooBig' }, { kind: 'ok' });
  const renotify = ({ client }: Account, messageId: string) =>
    client.call('POST', `/api/messages/${messageId}/renotify`);

  test('sends it only to them, at each request', async () => {
    const owner = await person();
    const topic = await createTopic(owner);
    const [got, missed] = [await subscriber(topic.name), await subscriber(topic.name)];
    missesOne(missed.token);
    const messageId = await publish(owner, topic.name);
    await eventually(async () => expect(await countsOf(owner, messageId)).toMatchObject({ sent: 1, failed: 1 }));
    const late = await subscriber(topic.name);
    for (let time = 0; time < 2; time++) {
      expect(await renotify(owner, messageId)).toMatchObject({
        status: 200,
        body: { message: 'Renotification queued', message_id: messageId },
      });
    }
    await eventually(async () => expect(await countsOf(owner, messageId)).toMatchObject({ sent: 2, failed: 0 }));
    // A later push has arrived, so no earlier one is in progress.
    const next = await publish(owner, topic.name);
    await eventually(() => expect(pushesTo(late.token)).toEqual([next]));
    expect([got, missed].map(({ token }) => pushesTo(token).filter((id) => id === messageId))).toEqual([
      [messageId],
      [messageId],
    ]);
  });

  test('is allowed to managers of its topic, and refusals reveal only what the caller may know', async () => {
    const [owner, admin, member, stranger] = [await person(), await person(), await person(), await person()];
    const { documents } = store;
    const { id: team_id } = await documents.insert(teams, newTeam(owner.user.id));
    await documents.insert(teamMembers, newMember(team_id, owner.user.id, 'owner'));
    await documents.insert(teamMembers, newMember(team_id, admin.user.id, 'admin'));
    await documents.insert(teamMembers, newMember(team_id, member.user.id));
    const topic = await createTopic(owner, { team_id, access_level: 'private' });
    const messageId = await publish(owner, topic.name);
    expect([(await renotify(owner, messageId)).status, (await renotify(admin, messageId)).status]).toEqual([200, 200]);
    expect(await renotify(member, messageId)).toMatchObject({
      status: 403,
      body: { detail: 'Insufficient permissions to access this topic' },
    });
    expect(await renotify(stranger, messageId)).toMatchObject({ status: 404, body: { detail: 'Message not found' } });
    expect(await renotify(owner, randomUUID())).toMatchObject({ status: 404, body: { detail: 'Message not found' } });
    expect((await renotify(owner, 'no-id')).status).toBe(422);
    expect((await new Client(undefined, stack.urls).call('POST', `/api/messages/${messageId}/renotify`)).status).toBe(
      401,
    );
    expect((await owner.client.call('DELETE', `/api/${topic.name}/messages/${messageId}`)).status).toBe(200);
    expect(await renotify(owner, messageId)).toMatchObject({ status: 404, body: { detail: 'Message not found' } });
  });

  test('is included in the operator’s command for a period', async () => {
    const owner = await person();
    const topic = await createTopic(owner);
    const { token } = await subscriber(topic.name);
    expo.script(
      token,
      ...Array.from({ length: 3 }, () => ({ kind: 'ticket-error', error: 'MessageTooBig' }) as const),
      { kind: 'ok' },
    );
    const published: { id: string; at: string }[] = [];
    for (let count = 1; count <= 3; count++) {
      const { body } = await owner.client.call('POST', `/${topic.name}`, { text: 'missed' });
      published.push({ id: body.id, at: body.timestamp });
      await eventually(async () => expect(await countsOf(owner, body.id)).toMatchObject({ failed: 1 }));
    }
    const [, second, third] = published;
    const printed = await command('renotify', '--topic', topic.name, '--from', second!.at, '--to', third!.at, '--json');
    expect(JSON.parse(printed.out)).toEqual({
      topic: topic.name,
      topic_id: topic.id,
      from: second!.at,
      to: third!.at,
      message: 'Renotification queued',
    });
    await eventually(() => expect(new Set(pushesTo(token))).toEqual(new Set([second!.id, third!.id])));
    expect(await countsOf(owner, published[0]!.id)).toMatchObject({ sent: 0, failed: 1 });
    expect(
      await command('renotify', '--topic', topic.name, '--from', '2020-01-01', '--to', '2020-01-02'),
    ).toMatchObject({ code: 2, error: expect.stringContaining('last 7 days') });
  });
});
