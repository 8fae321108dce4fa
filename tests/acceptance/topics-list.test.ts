import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, type Answer } from '../support/stack.ts';
import { useStack, type Caller, type Person } from '../support/use-stack.ts';

const stack = useStack();
interface Listed {
  id: string;
  can_manage: boolean;
}
const idsOf = (answer: Answer): string[] => answer.body.map((topic: { id: string }) => topic.id);

/**
 * Every topic of a listing that other tests change concurrently. A topic that is created or published to moves the
 * others back, and a deleted one moves them forward: pages overlap by half, and each topic counts once.
 */
async function allTopics(caller: Caller, path: string): Promise<Listed[]> {
  const topics = new Map<string, Listed>();
  for (let offset = 0; ; offset += 50) {
    const page = (await caller.get(`${path}?limit=100&offset=${offset}`)).body as Listed[];
    for (const topic of page) if (!topics.has(topic.id)) topics.set(topic.id, topic);
    if (page.length < 100) return [...topics.values()];
  }
}

const allIds = async (caller: Caller, path: string) => (await allTopics(caller, path)).map(({ id }) => id);

const discoverable = { is_discoverable: true, description: 'Found by anyone' };
const makeKey = async (person: Person, scopes: string[]) =>
  stack.caller({ 'X-API-Key': (await person.post('/api/keys', { name: 'k', scopes })).body.key });

test('all callers find discoverable public topics, and other topics only callers with access', async () => {
  const [owner, member, stranger] = [await stack.person({ tier: 'TEAM' }), await stack.person(), await stack.person()];
  const team_id = await stack.team(owner, [[member, 'member']]);
  const listed = (await createTopic(owner, discoverable)).id;
  const unlisted = (await createTopic(owner)).id;
  const closed = (await createTopic(owner, { ...discoverable, access_level: 'private' })).id;
  const ofTeam = (await createTopic(owner, { team_id })).id;
  const closedOfTeam = (await createTopic(owner, { team_id, access_level: 'private' })).id;
  const known = [listed, unlisted, closed, ofTeam, closedOfTeam];
  const seen = async (caller: Caller, path = '/api/topics') => {
    const ids = await allIds(caller, path);
    return known.filter((id) => ids.includes(id));
  };
  expect(await seen(owner)).toEqual(known);
  expect(await seen(member)).toEqual([listed, ofTeam, closedOfTeam]);
  for (const caller of [stranger, stack.caller()]) expect(await seen(caller)).toEqual([listed]);
  for (const caller of [owner, member, stack.caller()])
    expect(await seen(caller, '/api/topics/public')).toEqual([listed]);
  expect(await seen(owner, '/api/topics/my')).toEqual(known);
  expect(await seen(member, '/api/topics/my')).toEqual([]);
  expect(await seen(await makeKey(owner, ['topics:read']))).toEqual(known);
  expect(await seen(await makeKey(owner, ['publish']))).toEqual([listed]);
  expect(await seen(await makeKey(member, ['*']))).toEqual([listed, ofTeam]);
});

test('can_manage shows whether the caller manages a topic', async () => {
  const [owner, admin, member] = [await stack.person({ tier: 'TEAM' }), await stack.person(), await stack.person()];
  const team_id = await stack.team(owner, [
    [admin, 'admin'],
    [member, 'member'],
  ]);
  const { id, name } = await createTopic(owner, { team_id, ...discoverable });
  const flags = async (caller: Caller) => {
    const listed = (await allTopics(caller, '/api/topics')).find((topic) => topic.id === id)!;
    return [listed.can_manage, (await caller.get(`/api/topics/${name}`)).body.can_manage];
  };
  expect(await flags(owner)).toEqual([true, true]);
  expect(await flags(admin)).toEqual([true, true]);
  expect(await flags(member)).toEqual([false, false]);
  expect(await flags(stack.caller())).toEqual([false, false]);
  expect((await owner.get('/api/topics/my')).body[0]).toMatchObject({ id, can_manage: true });
});

test('listings are ordered by latest activity: creation or publish', async () => {
  const owner = await stack.person();
  const topics = [await createTopic(owner), await createTopic(owner), await createTopic(owner)];
  const [one, two, three] = topics.map(({ id }) => id);
  const order = async (path: string) =>
    (await allIds(owner, path)).filter((id) => topics.some((topic) => topic.id === id));
  expect(await order('/api/topics/my')).toEqual([three, two, one]);
  expect(await order('/api/topics')).toEqual([three, two, one]);
  expect((await owner.publish(topics[0]!.name)).status).toBe(200);
  await eventually(async () => expect(await order('/api/topics/my')).toEqual([one, three, two]));
  expect(await order('/api/topics')).toEqual([one, three, two]);
  const [first] = (await owner.get('/api/topics/my')).body;
  expect(first).toMatchObject({ message_count: 1, last_message_at: expect.any(String) });
});

test('pages contain every item once and the total', async () => {
  const owner = await stack.person();
  const made: string[] = [];
  for (let count = 0; count < 7; count++) made.unshift((await createTopic(owner)).id);
  const pages = async (query: (at: number) => string, count: number) =>
    (await Promise.all(Array.from({ length: count }, (_, at) => owner.get(`/api/topics/my?${query(at)}`)))).flatMap(
      idsOf,
    );
  expect(await pages((at) => `limit=3&offset=${at * 3}`, 4)).toEqual(made);
  expect(await pages((at) => `page=${at + 1}&per_page=2`, 5)).toEqual(made);
  const byPage = await owner.get('/api/topics/my?page=2&limit=1&offset=5');
  expect(byPage.headers.get('x-total-count')).toBe('7');
  expect([byPage.headers.get('x-page'), byPage.headers.get('x-per-page'), byPage.body]).toEqual(['2', '20', []]);
  const byLimit = await owner.get('/api/topics/my?limit=1');
  expect([byLimit.headers.get('x-total-count'), byLimit.headers.get('x-page')]).toEqual(['7', null]);
  expect(await owner.get('/api/topics/my?offset=999999')).toMatchObject({ status: 200, body: [] });
});

test('own and public topics form one list across pages', async () => {
  const [owner, other] = [await stack.person(), await stack.person()];
  const made: string[] = [];
  for (let count = 0; count < 4; count++) {
    made.push((await createTopic(owner, count % 2 === 0 ? {} : discoverable)).id);
    made.push((await createTopic(other, discoverable)).id);
  }
  // Topics of other tests appear in between and move, so only the order of these eight is checked.
  const whole = (await allIds(owner, '/api/topics')).filter((id) => made.includes(id));
  expect(whole).toEqual(made.toReversed());
  for (const offset of [0, 1, 2, 3, 5, 8]) {
    const answer = await owner.get(`/api/topics?limit=4&offset=${offset}`);
    expect(Number(answer.headers.get('x-total-count'))).toBeGreaterThanOrEqual(made.length);
    const page = idsOf(answer);
    expect(page.length).toBeLessThanOrEqual(4);
    expect(new Set(page).size).toBe(page.length);
    const ours = page.filter((id) => made.includes(id));
    const from = whole.indexOf(ours[0]!);
    expect(ours).toEqual(whole.slice(from, from + ours.length));
  }
});

test.each(['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'page=0', 'per_page=101', 'limit=1&limit=2'])(
  'refuses %s',
  async (query) => {
    expect((await stack.caller().get(`/api/topics?${query}`)).status).toBe(422);
  },
);

test('listing own topics requires a login or a key with the scope', async () => {
  const owner = await stack.person();
  expect((await stack.caller().get('/api/topics/my')).status).toBe(401);
  expect(await (await makeKey(owner, ['publish'])).get('/api/topics/my')).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: topics:read' },
  });
  expect(await stack.caller({ Authorization: 'Bearer nonsense' }).get('/api/topics/public')).toMatchObject({
    status: 401,
    body: { detail: 'Could not validate credentials' },
  });
});
