import { asReader } from '../support/as-reader.ts';
import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  act,
  filter,
  HistoryModel,
  type Act,
  type Filter,
  type Shown,
  type ShownRecord,
} from '../support/history-model.ts';
import { Client, createTopic, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
});
const runs = Number(process.env['HISTORY_RUNS'] ?? 12);

interface Topic {
  readonly id: string;
  readonly name: string;
}

/** Sends each request to every API node in turn: all must return the same. */
let turn = 0;
async function ask(method: string, path: string, options: { token?: string; json?: unknown } = {}): Promise<Answer> {
  turn += 1;
  const answer = await new Client().call(method, path, { ...options, node: turn });
  expect({ path, status: answer.status, body: answer.status === 200 ? null : answer.body }).toEqual({
    path,
    status: 200,
    body: null,
  });
  return answer;
}
const asOwner = () => ({ token: owner.client.token! });

async function perform(model: HistoryModel, { name }: Topic, what: Act): Promise<void> {
  if (what.kind === 'publish') {
    const { text: message, title, tags, priority } = what;
    const {
      event: _event,
      time: _time,
      expires: _expires,
      ...shown
    } = (await ask('POST', '/', { json: { topic: name, message, title, tags, priority } })).body;
    model.published(shown as Shown);
    return;
  }
  const open = model.history();
  if (open.length === 0) return;
  const target = open[what.target % open.length]!;
  const path = `/api/${name}/messages/${target.id}`;
  if (what.kind === 'delete') {
    model.deleted(target.id, (await ask('DELETE', path, asOwner())).body.deleted_at as string);
    return;
  }
  const title = what.title === undefined ? {} : { title: what.title };
  model.edited(target.id, (await ask('PATCH', path, { ...asOwner(), json: { message: what.text, ...title } })).body);
}

/** Reads from the last ID until a page is empty. */
async function walkHistory({ name }: Topic, since: string, limit: number): Promise<Shown[]> {
  const found: Shown[] = [];
  for (;;) {
    const { body } = await ask('GET', `/${name}/json?since=${found.at(-1)?.id ?? since}&limit=${limit}`);
    expect(body.count).toBe(body.messages.length);
    found.push(...body.messages);
    if (body.count < limit) return found;
  }
}

/**
 * Reads from `next_offset` until a page is empty. Resolves with the records without offsets, which must be increasing.
 */
async function walkLog({ name }: Topic, start: string, limit: number): Promise<ShownRecord[]> {
  const found: ShownRecord[] = [];
  let last = -1;
  for (let query = start; ;) {
    const { body } = await ask('GET', `/api/topics/${name}/log?${query}&limit=${limit}`);
    for (const { offset, ...record } of body.records) {
      expect(offset).toBeGreaterThan(last);
      if (record.type === 'message') expect(record.message.offset).toBe(offset);
      last = offset;
      found.push(record);
    }
    if (body.records.length > 0) expect(body.next_offset).toBe(last + 1);
    if (body.records.length < limit) return found;
    query = `from_offset=${body.next_offset}`;
  }
}

async function readsAsModel(
  model: HistoryModel,
  topic: Topic,
  { limit, pick }: { limit: number; pick: number },
): Promise<void> {
  const history = model.history();
  expect(await walkHistory(topic, 'all', limit)).toEqual(history);
  expect((await ask('GET', `/${topic.name}/json?limit=${limit}`)).body.messages).toEqual(history.slice(-limit));
  expect(await walkLog(topic, 'from_offset=0', limit)).toEqual(model.records());
  const picked = model.all[pick % model.all.length];
  if (picked === undefined) return;
  expect(await walkHistory(topic, picked.id, limit)).toEqual(history.filter(({ offset }) => offset > picked.offset));
  expect(await walkHistory(topic, picked.timestamp, limit)).toEqual(
    history.filter(({ timestamp }) => timestamp >= picked.timestamp),
  );
  expect(await walkLog(topic, `from_offset=${picked.offset}`, limit)).toEqual(
    model.records().slice(model.records().findIndex(({ message }) => message.id === picked.id)),
  );
  expect(await walkLog(topic, `from_time=${picked.timestamp}`, limit)).toEqual(
    model.records().filter(({ timestamp }) => timestamp >= picked.timestamp),
  );
}

function queryOf(model: HistoryModel, asked: Filter): URLSearchParams {
  const { from, to } = model.range(asked);
  const [low, high] = asked.priorities ?? [undefined, undefined];
  const fields = {
    q: asked.q,
    tags: asked.tags?.join(','),
    priority_min: low,
    priority_max: high,
    date_from: from,
    date_to: to,
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, `${value}`);
  return query;
}

/** All pages of a search, with either way of paging. */
async function searchAll(
  path: string,
  query: URLSearchParams,
  paging: { by: 'offset' | 'page'; size: number },
): Promise<{ messages: Shown[]; total: number }> {
  const messages: Shown[] = [];
  for (let page = 1; ; page += 1) {
    const { by, size } = paging;
    const part = by === 'page' ? `page=${page}&per_page=${size}` : `limit=${size}&offset=${(page - 1) * size}`;
    const { body, headers } = await ask('GET', `${path}?${query}&${part}`, asOwner());
    expect(headers.get('x-total-count')).toBe(`${body.total}`);
    expect([body.limit, body.offset]).toEqual([size, (page - 1) * size]);
    expect(headers.get('x-page')).toBe(by === 'page' ? `${page}` : null);
    messages.push(...body.messages.map(asReader));
    if (body.messages.length < size) return { messages, total: body.total };
  }
}

async function findsAsModel(model: HistoryModel, topic: Topic, asked: Filter, size: number): Promise<void> {
  const query = queryOf(model, asked);
  const expected = { messages: model.matching(asked, false), total: model.matching(asked, false).length };
  const own = `/api/topics/${topic.name}/messages`;
  expect(await searchAll(own, query, { by: 'offset', size })).toEqual(expected);
  expect(
    await searchAll('/api/messages/search', new URLSearchParams([...query, ['topic', topic.name]]), {
      by: 'page',
      size,
    }),
  ).toEqual(expected);
  const whole = model.matching(asked, true);
  expect(
    await searchAll(own, new URLSearchParams([...query, ['include_deleted', 'true']]), { by: 'page', size }),
  ).toEqual({ messages: whole, total: whole.length });
  const { body } = await ask('GET', `/api/messages/activity?${activityQuery(query, topic)}`, asOwner());
  expect(body.total).toBe(expected.total);
  for (const priority of [1, 2, 3, 4, 5]) {
    const counted = body.buckets.reduce(
      (sum: number, bucket: Record<string, number>) => sum + bucket[`priority_${priority}`]!,
      0,
    );
    expect(counted).toBe(expected.messages.filter((message) => message.priority === priority).length);
  }
}

function activityQuery(query: URLSearchParams, { name }: Topic): URLSearchParams {
  const names: Record<string, string> = { q: 'query', date_from: 'start_date', date_to: 'end_date' };
  return new URLSearchParams([
    ...[...query].map(([key, value]): [string, string] => [names[key] ?? key, value]),
    ['topics', name],
  ]);
}

const history = fc.record({
  acts: fc.array(act, { minLength: 1, maxLength: 14 }),
  reads: fc.array(fc.record({ limit: fc.integer({ min: 1, max: 5 }), pick: fc.nat() }), { minLength: 1, maxLength: 2 }),
  searches: fc.array(fc.record({ asked: filter, size: fc.integer({ min: 1, max: 5 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
});

test('after any sequence of operations, every node returns the same history, log, search results and counts', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ acts, reads, searches }) => {
      const topic = await createTopic(owner);
      const model = new HistoryModel();
      for (const what of acts) await perform(model, topic, what);
      for (const one of reads) await readsAsModel(model, topic, one);
      for (const { asked, size } of searches) await findsAsModel(model, topic, asked, size);
      expect((await ask('GET', `/api/topics/${topic.name}`)).body.message_count).toBe(model.history().length);
    }),
    { numRuns: runs },
  );
}, 300_000);
