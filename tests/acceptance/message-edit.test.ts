import { beforeAll, expect, test } from '@jest/globals';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
let topic: { id: string; name: string };
beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  topic = await createTopic(owner);
});

/** Publishes a message with all fields. Resolves with the message and the path of its changes. */
async function published(fields: Record<string, unknown> = {}) {
  const json = {
    topic: topic.name,
    message: 'first',
    title: 'Title',
    priority: 4,
    tags: ['a', 'b'],
    markdown: true,
    ...fields,
  };
  const { status, body } = await owner.post('/', json);
  expect(status).toBe(200);
  const { event: _event, time: _time, expires: _expires, ...message } = body;
  return { message, path: `/api/${topic.name}/messages/${message.id}` };
}

const shown = async (id: string) =>
  (await owner.get(`/${topic.name}/json?since=all&limit=100`)).body.messages.find(
    (message: { id: string }) => message.id === id,
  );

test('an edit replaces only text and title', async () => {
  const { message, path } = await published();
  const { status, body } = await owner.patch(path, { message: 'second  \r\n', title: 'New' });
  expect([status, body]).toEqual([
    200,
    { id: message.id, message: 'second  \r\n', title: 'New', edited_at: expect.any(String) },
  ]);
  expect(await shown(message.id)).toEqual({
    ...message,
    message: 'second  \r\n',
    title: 'New',
    is_edited: true,
    edited_at: body.edited_at,
  });
});

test('an omitted title or text stays; a null or blank title removes it', async () => {
  const { message, path } = await published();
  expect((await owner.patch(path, { message: 'second' })).body).toMatchObject({ message: 'second', title: 'Title' });
  expect((await owner.patch(path, { message: 'third', title: null })).body).toMatchObject({
    message: 'third',
    title: null,
  });
  expect((await owner.patch(path, { title: 'Back' })).body).toMatchObject({ message: 'third', title: 'Back' });
  expect((await owner.patch(path, { title: '  ' })).body).toMatchObject({ message: 'third', title: null });
  expect(await shown(message.id)).toMatchObject({
    message: 'third',
    title: null,
    tags: ['a', 'b'],
    priority: 4,
    markdown: true,
  });
});

test('an edit without changes has no effect', async () => {
  const { message, path } = await published();
  expect(await owner.patch(path, {})).toMatchObject({
    status: 200,
    body: { id: message.id, message: 'first', title: 'Title', edited_at: null },
  });
  expect(await owner.patch(path, { text: 'unknown', priority: 1 })).toMatchObject({
    status: 200,
    body: { edited_at: null },
  });
  expect(await shown(message.id)).toEqual(message);
});

test('accepts texts up to 4,000 characters unchanged and titles up to 250', async () => {
  const { message, path } = await published();
  const text = `${'😀'.repeat(3_996)} \u0000\né`;
  const title = '💾'.repeat(250);
  expect(await owner.patch(path, { message: text, title })).toMatchObject({
    status: 200,
    body: { message: text, title },
  });
  expect(await shown(message.id)).toMatchObject({ message: text, title });
});

test.each([
  [{ message: '' }, 'message'],
  [{ message: null }, 'message'],
  [{ message: 7 }, 'message'],
  [{ message: 'x'.repeat(4_001) }, 'message'],
  [{ message: '\ud800' }, 'message'],
  [{ title: 'x'.repeat(251) }, 'title'],
  [{ title: 7 }, 'title'],
  [[], 'body'],
])('returns 422 for %j', async (json, field) => {
  const { message, path } = await published();
  const answer = await owner.patch(path, json);
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toMatch(new RegExp(`^${field}: `));
  expect(await shown(message.id)).toEqual(message);
});

test('edits are log records, and every record shows the current message', async () => {
  const own = await createTopic(owner);
  const { body: message } = await owner.publish(own.name, 'first');
  const path = `/api/${own.name}/messages/${message.id}`;
  const one = (await owner.patch(path, { message: 'second' })).body;
  const two = (await owner.patch(path, { message: 'third' })).body;
  const { records, next_offset } = (await owner.get(`/api/topics/${own.name}/log`)).body;
  const asItStands = { ...message, message: 'third', is_edited: true, edited_at: two.edited_at };
  expect(records).toEqual([
    { offset: message.offset, type: 'message', timestamp: message.timestamp, message: asItStands },
    { offset: expect.any(Number), type: 'message_edited', timestamp: one.edited_at, message: asItStands },
    { offset: expect.any(Number), type: 'message_edited', timestamp: two.edited_at, message: asItStands },
  ]);
  const offsets = records.map(({ offset }: { offset: number }) => offset);
  expect([...offsets].sort((a, b) => a - b)).toEqual(offsets);
  expect(next_offset).toBe(offsets[2] + 1);
});

test('concurrent edits on all nodes do not lose changes', async () => {
  const { message, path } = await published();
  const edits = Array.from({ length: 10 }, (_, index) =>
    index % 2 === 0 ? { message: `text ${index}` } : { title: `title ${index}` },
  );
  const answers = await Promise.all(edits.map((json, node) => owner.client.call('PATCH', path, { json, node })));
  expect(answers.map(({ status }) => status)).toEqual(edits.map(() => 200));
  const after = await shown(message.id);
  // In any order, the last text and the last title are in effect, and no edit has restored an older one.
  const last = answers.map(({ body }) => body).sort((a, b) => (a.edited_at < b.edited_at ? 1 : -1))[0];
  expect(after.edited_at).toBe(last.edited_at);
  expect(after.message).toMatch(/^text /);
  expect(after.title).toMatch(/^title /);
});
