import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { reservedTopicNames } from '@tocsin/shared/testing/reserved-topic-names.ts';
import { newRegistration } from '../support/registration.ts';
import { Client, createTopic, newTopicName, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const newWord = (length: number): string => randomBytes(length).toString('hex').slice(0, length);
const refused = (field: string) => ({
  status: 422,
  body: { detail: expect.stringMatching(new RegExp(`^${field.replaceAll('.', '\\.')}\\b`)) },
});

let owner: Person;
beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
});

/** Values just within and just beyond each rule. This table states the rules independently of the OpenAPI document. */
interface Bounds {
  readonly field: string;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

async function holds({ field, good, bad }: Bounds, send: (value: unknown) => Promise<Answer>): Promise<void> {
  for (const value of good) {
    const { status, body } = await send(value);
    expect({ value, isTaken: status === 200 || status === 201, detail: body.detail }).toEqual({
      value,
      isTaken: true,
      detail: undefined,
    });
  }
  for (const value of bad) expect({ value, ...(await send(value)) }).toMatchObject({ value, ...refused(field) });
}

/** Values within and beyond a length limit, of characters with two UTF-16 code units. */
const lengths = (field: string, min: number, max: number): Bounds => ({
  field,
  good: ['🔔'.repeat(max), ...(min > 0 ? ['🔔'.repeat(min)] : [''])],
  bad: ['🔔'.repeat(max + 1), ...(min > 1 ? ['🔔'.repeat(min - 1)] : min === 1 ? [''] : [])],
});

describe('a topic', () => {
  const create = (field: string) => (value: unknown) =>
    owner.post('/api/topics', { name: newTopicName(), [field]: value });
  const change = (field: string) => async (value: unknown) =>
    owner.patch(`/api/topics/${(await createTopic(owner)).id}`, { [field]: value });

  test.each(['creation', 'change'])('has a %s of 1 to 64 letters, digits, dashes and underscores', async (at) => {
    const bounds = {
      field: 'name',
      good: [newWord(64), newWord(12).toUpperCase(), `A-z_${newWord(9)}`],
      bad: [
        '',
        newWord(65),
        `a b${newWord(9)}`,
        `a.${newWord(9)}`,
        `ä${newWord(9)}`,
        `a/${newWord(9)}`,
        `${newWord(9)}\n`,
      ],
    };
    await holds(bounds, at === 'creation' ? (name) => owner.post('/api/topics', { name }) : change('name'));
    // A name of one character may be taken, which this test does not check.
    expect([200, 201, 409]).toContain((await owner.post('/api/topics', { name: newWord(1) })).status);
  });

  test.each(reservedTopicNames)('cannot be called %s, in any case', async (name) => {
    for (const written of [name, name.toUpperCase(), name[0]!.toUpperCase() + name.slice(1)]) {
      expect(await owner.post('/api/topics', { name: written })).toMatchObject({
        status: 422,
        body: { detail: 'name: is reserved, choose another' },
      });
    }
  });

  test('has a description of at most 1,000 characters and optional, well-formed icons', async () => {
    for (const send of [create, change]) {
      await holds(lengths('description', 0, 1_000), send('description'));
      await holds(
        { field: 'icon_name', good: ['a', 'x-1'.padEnd(50, 'z'), null], bad: ['', 'x'.repeat(51), 'A', 'a_b', 'a b'] },
        send('icon_name'),
      );
      await holds(
        { field: 'icon_color', good: ['#09afAF', null], bad: ['', '#12345', '#1234567', '123456', '#12345g', 'red'] },
        send('icon_color'),
      );
    }
  });

  test('has tokens with a name of 1 to 80 characters', async () => {
    const path = `/api/topics/${(await createTopic(owner)).name}/access-tokens`;
    await holds(lengths('name', 1, 80), (name) => owner.post(path, { name, permissions: ['read'] }));
  });

  test('has consumers with a name of 1 to 64 letters, digits, dashes and underscores', async () => {
    const { name } = await createTopic(owner);
    const keep = (consumer: unknown) =>
      owner.put(`/api/topics/${name}/consumers/${encodeURIComponent(consumer as string)}`, { offset: 0 });
    await holds({ field: 'consumer', good: ['a', 'Z-_9'.padEnd(64, 'x')], bad: ['x'.repeat(65), 'a.b', 'ü'] }, keep);
  });
});

describe('an account', () => {
  const register = (field: string) => (value: unknown) =>
    new Client().call('POST', '/auth/register', { json: { ...newRegistration(), [field]: value } });
  const change = (field: string) => async (value: unknown) =>
    (await stack.person()).patch('/api/users/me', { [field]: value });

  test.each(['registration', 'change'])(
    'has a username of 3 to 32 letters, digits, dots, dashes and underscores, at its %s',
    async (at) => {
      const send = at === 'registration' ? register('username') : change('username');
      await holds(
        {
          field: 'username',
          good: [newWord(32), `A_.-${newWord(9)}`],
          bad: ['ab', newWord(33), `a b${newWord(9)}`, `ä${newWord(9)}`, `a@${newWord(9)}`],
        },
        send,
      );
      // A name of three characters may be taken.
      expect([200, 201, 409]).toContain((await send(newWord(3))).status);
    },
  );

  test.each(['registration', 'change'])('has an email of at most 254 characters in its %s', async (at) => {
    const ofLength = (length: number) =>
      `${newWord(60)}@${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(60)}.`.padEnd(length - 4, 'g') + '.org';
    const bounds = {
      field: 'email',
      good: [ofLength(254)],
      bad: [ofLength(255), 'nobody', 'a@', '@example.org', 'a b@example.org', 'a@b@example.org'],
    };
    expect(bounds.good.map((email) => email.length)).toEqual([254]);
    await holds(bounds, at === 'registration' ? register('email') : change('email'));
  });

  test('has a password of 8 characters to 72 bytes', async () => {
    const bounds = {
      good: ['x7-quopv', 'x'.repeat(72), '🔔'.repeat(18)],
      bad: ['1234567', '12345678', 'PassWord1', '🔔'.repeat(7), 'x'.repeat(73), `${'🔔'.repeat(18)}x`],
    };
    await holds({ field: 'password', ...bounds }, register('password'));
    const changed = async (new_password: unknown) => {
      const person = await stack.person();
      return person.post('/auth/password-change', { current_password: person.password, new_password });
    };
    await holds({ field: 'new_password', ...bounds }, changed);
  });

  test('has a consent method of 1 to 50 lower-case letters, digits and underscores', async () => {
    const accept = (consent_method: unknown) => owner.post('/auth/accept-terms', { accepted: true, consent_method });
    await holds(
      {
        field: 'consent_method',
        good: ['a', 'web_2'.padEnd(50, 'x')],
        bad: ['', 'x'.repeat(51), 'Web', 'web-checkbox'],
      },
      accept,
    );
  });

  test('has keys with a name of 1 to 80 characters and a description of at most 1,000', async () => {
    await holds(lengths('name', 1, 80), (name) => owner.post('/api/keys', { name }));
    await holds(lengths('description', 0, 1_000), (description) => owner.post('/api/keys', { name: 'k', description }));
  });
});

describe('a team', () => {
  const create = (fields: object) =>
    owner.post('/api/teams', { name: `t-${newWord(12)}`, display_name: 'A team', ...fields });

  test('has a name of 2 to 40 lower-case letters, digits and dashes', async () => {
    const bad = ['a', newWord(41), `A${newWord(9)}`, `a_${newWord(9)}`, `a b${newWord(9)}`, `ä${newWord(9)}`];
    await holds({ field: 'name', good: [newWord(40), `-${newWord(9)}-`], bad }, (name) => create({ name }));
    // A name of two characters may be taken.
    expect([201, 409]).toContain((await create({ name: newWord(2) })).status);
  });

  test('has a display name of 1 to 80 characters and a description of at most 1,000', async () => {
    const { id } = (await create({})).body;
    for (const send of [create, (fields: object) => owner.patch(`/api/teams/${id}`, fields)]) {
      await holds(lengths('display_name', 1, 80), (display_name) => send({ display_name }));
      await holds(lengths('description', 0, 1_000), (description) => send({ description }));
    }
  });
});

describe('a device', () => {
  const register = (fields: object) =>
    owner.post('/api/devices/register', { push_token: randomUUID(), platform: 'expo', device_id: 'd', ...fields });

  test('has a push token of 1 to 4,096 characters and an ID of 1 to 128', async () => {
    await holds(lengths('push_token', 1, 4_096), (push_token) => register({ push_token }));
    await holds(lengths('device_id', 1, 128), (device_id) => register({ device_id }));
    const { id } = (await register({})).body;
    await holds(lengths('push_token', 1, 4_096), (push_token) => owner.put(`/api/devices/${id}`, { push_token }));
  });

  test('has an optional name of at most 100 characters and an optional version of at most 50', async () => {
    const { id } = (await register({})).body;
    for (const send of [register, (fields: object) => owner.put(`/api/devices/${id}`, fields)]) {
      await holds(lengths('device_name', 0, 100), (device_name) => send({ device_name }));
      await holds(lengths('app_version', 0, 50), (app_version) => send({ app_version }));
    }
    for (const none of [{}, { device_name: null, app_version: null }]) {
      expect(await register({ device_id: randomUUID(), ...none })).toMatchObject({
        status: 201,
        body: { device_name: null, app_version: null },
      });
    }
  });

  test.each([
    ['ios', true],
    ['android', true],
    ['expo', true],
    ['web', false],
    ['IOS', false],
  ])('has the platform %s: %s', async (platform, isTaken) => {
    expect((await register({ platform })).status).toBe(isTaken ? 201 : 422);
  });
});

describe('settings of a subscription', () => {
  test('have a threshold of 1 to 5, a sound of 1 to 64 characters, and 20 tags of up to 64', async () => {
    const { name } = await createTopic(owner);
    const { id } = (await owner.post('/api/subscriptions', { topic_name: name })).body;
    const set = (field: string) => (value: unknown) =>
      owner.patch(`/api/subscriptions/${id}`, { mobile_notification_settings: { [field]: value } });
    const at = (field: string) => `mobile_notification_settings.${field}`;
    await holds(
      { field: at('priority_threshold'), good: [1, 2, 3, 4, 5], bad: [0, 6, 2.5, '3'] },
      set('priority_threshold'),
    );
    await holds(
      {
        field: at('notification_sound'),
        good: ['a', 'A.-_9'.padEnd(64, 'x')],
        bad: ['', 'x'.repeat(65), 'a b', 'ä', 'a/b'],
      },
      set('notification_sound'),
    );
    const tags = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
    await holds(
      { field: at('tags_filter'), good: [[], tags(20), ['🔔'.repeat(64)]], bad: [tags(21), ['x'.repeat(65)], 'a'] },
      set('tags_filter'),
    );
  });
});

describe('a query', () => {
  test.each(['/api/messages/search?q=', '/api/messages/activity?query='])(
    '%s has at most 200 characters',
    async (path) => {
      const field = /\w+(?==$)/.exec(path)![0];
      await holds({ field, good: [encodeURIComponent('🔔'.repeat(200))], bad: ['x'.repeat(201)] }, (text) =>
        owner.get(path + String(text)),
      );
    },
  );

  test.each(['/api/messages/search', '/api/messages/activity'])('%s names at most 20 tags', async (path) => {
    const tags = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`).join(',');
    await holds({ field: 'tags', good: [tags(20)], bad: [tags(21)] }, (text) =>
      owner.get(`${path}?tags=${String(text)}`),
    );
  });

  test('activity counts at most 100 topics', async () => {
    const names: string[] = [];
    while (names.length < 101) names.push((await createTopic(owner)).name);
    await holds({ field: 'topics', good: [names.slice(1).join(',')], bad: [names.join(',')] }, (topics) =>
      owner.get(`/api/messages/activity?topics=${String(topics)}`),
    );
  });
});
