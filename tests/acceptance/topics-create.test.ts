import { expect, test } from '@jest/globals';
import { newTopicName } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('a topic created with only a name is public, undiscoverable and empty', async () => {
  const owner = await stack.person();
  const name = newTopicName();
  const { status, body } = await owner.post('/api/topics', { name });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(uuid),
    name,
    owner_id: owner.id,
    team_id: null,
    access_level: 'public',
    description: '',
    is_discoverable: false,
    icon_name: null,
    icon_color: null,
    message_count: 0,
    subscriber_count: 0,
    created_at: expect.stringMatching(iso),
    last_message_at: null,
    can_manage: true,
    archive: true,
    subscription_warning: null,
  });
  const detail = await stack.caller().get(`/api/topics/${name.toUpperCase()}`);
  expect(detail.status).toBe(200);
  const { subscription_warning: _, ...shared } = body;
  const { archive: __, ...seen } = shared;
  expect(detail.body).toEqual({ ...seen, can_manage: false, connection_count: 0 });
  expect((await owner.get(`/api/topics/${name}/stats`)).body).toEqual({ ...shared, connection_count: 0 });
});

test('stores all fields of a topic, and treats null as omitted', async () => {
  const owner = await stack.person();
  const fields = {
    name: newTopicName(),
    access_level: 'public',
    description: 'Über 🚒',
    is_discoverable: true,
    icon_name: 'fire-1',
    icon_color: '#A0b1C2',
  };
  expect((await owner.post('/api/topics', fields)).body).toMatchObject(fields);
  const nulls = {
    name: newTopicName(),
    access_level: null,
    description: null,
    is_discoverable: null,
    icon_name: null,
    icon_color: null,
    team_id: null,
  };
  expect((await owner.post('/api/topics', nulls)).body).toMatchObject({
    access_level: 'public',
    description: '',
    is_discoverable: false,
  });
});

test.each([
  [{}, 'name: is required'],
  [{ name: '' }, 'name: must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -'],
  [{ name: 'x'.repeat(65) }, 'name: must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -'],
  [{ name: 'ä' }, 'name: must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -'],
  [{ name: 'Public' }, 'name: is reserved, choose another'],
  [{ name: 'MY' }, 'name: is reserved, choose another'],
  [{ name: 7 }, 'name: must be a string'],
  [{ name: 'ok', access_level: 'secret' }, 'access_level: must be one of public, private'],
  [{ name: 'ok', description: 'x'.repeat(1_001) }, 'description: must be at most 1000 characters'],
  [{ name: 'ok', description: '\ud800' }, 'description: must be valid Unicode'],
  [{ name: 'ok', is_discoverable: 'yes' }, 'is_discoverable: must be a boolean'],
  [{ name: 'ok', is_discoverable: true }, 'description: is required for a discoverable public topic'],
  [
    { name: 'ok', is_discoverable: true, description: ' \n ' },
    'description: is required for a discoverable public topic',
  ],
  [{ name: 'ok', icon_name: 'Fire' }, 'icon_name: must be 1 to 50 of the characters a-z, 0-9 and -'],
  [{ name: 'ok', icon_color: 'red' }, 'icon_color: must be a colour such as #1A2B3C'],
  [{ name: 'ok', team_id: 'x' }, 'team_id: must be a UUID'],
  [[], 'body: must be an object'],
])('refuses %j with %s', async (body, detail) => {
  const owner = await stack.person();
  expect(await owner.post('/api/topics', body)).toMatchObject({ status: 422, body: { detail } });
});

test('accepts a description of 1,000 code points of any length in UTF-16', async () => {
  const owner = await stack.person();
  const { status, body } = await owner.post('/api/topics', { name: newTopicName(), description: '🔥'.repeat(1_000) });
  expect(status).toBe(201);
  expect(body.description).toBe('🔥'.repeat(1_000));
});

test('a name is taken in any case, also under concurrent creation', async () => {
  const [one, two] = [await stack.person(), await stack.person()];
  const name = newTopicName().toUpperCase();
  const answers = await Promise.all(
    [one, two, one, two].map(({ client }, node) => client.call('POST', '/api/topics', { json: { name }, node })),
  );
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409]);
  expect(await two.post('/api/topics', { name: name.toLowerCase() })).toMatchObject({
    status: 409,
    body: { detail: 'Topic name already exists' },
  });
});

test('creating requires a credential, and malformed JSON is distinguished from a missing field', async () => {
  expect(await stack.caller().post('/api/topics', {})).toMatchObject({
    status: 401,
    body: { detail: 'Not authenticated' },
  });
  const owner = await stack.person();
  const malformed = await owner.client.call('POST', '/api/topics', {
    text: '{',
    headers: { 'Content-Type': 'application/json' },
  });
  expect(malformed).toMatchObject({ status: 400, body: { detail: 'The body is not valid JSON' } });
  const text = await owner.client.call('POST', '/api/topics', {
    text: '{}',
    headers: { 'Content-Type': 'text/plain' },
  });
  expect(text.status).toBe(415);
});

test('returns 404 for unknown topics with any name', async () => {
  for (const name of ['nothing-here', 'a%20b', '%C3%A4', 'admin']) {
    expect(await stack.caller().get(`/api/topics/${name}`)).toMatchObject({
      status: 404,
      body: { detail: 'Topic not found' },
    });
  }
});
