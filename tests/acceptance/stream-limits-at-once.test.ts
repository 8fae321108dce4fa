import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStreams, type ClientStream, type OpenOptions } from '../support/use-streams.ts';

const stack = useStack();
const streams = useStreams();
const tooMany = {
  status: 429,
  body: { detail: 'Too many open streams' },
  headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
};

/**
 * Opens streams concurrently on one node, over both transports and of both kinds. Resolves with the accepted and the
 * refused ones.
 */
async function openAtOnce(
  count: number,
  topic: string,
  query: string,
  options: OpenOptions,
): Promise<{ opened: ClientStream[]; refused: ClientStream[] }> {
  const all = await Promise.all(
    Array.from({ length: count }, (_, at) => {
      const path = at % 2 === 0 ? `/${topic}/` : '/';
      const topics = at % 2 === 0 ? '' : `topics=${topic}&`;
      return at % 4 < 2
        ? streams.sse(`${path}sse?${topics}${query}`, options)
        : streams.ws(`${path}ws?${topics}${query}`, options);
    }),
  );
  return {
    opened: all.filter(({ body }) => body === undefined),
    refused: all.filter(({ body }) => body !== undefined),
  };
}

test('an anonymous address has at most 50 open streams under concurrent opens', async () => {
  const { name } = await createTopic(await stack.person());
  const address = newAddress();
  const { opened, refused } = await openAtOnce(56, name, '', { address });
  expect([opened.length, refused.length]).toEqual([50, 6]);
  for (const stream of refused) expect(stream).toMatchObject(tooMany);
  expect((await streams.sse(`/${name}/sse`)).body).toBeUndefined();
});

test('an account has at most 200 open streams over all credentials, and a closed stream frees a place', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner, { access_level: 'private' });
  const { key } = (await owner.post('/api/keys', { name: 'k' })).body;
  const byLogin = await openAtOnce(150, name, '', { token: owner.client.token });
  const byKey = await openAtOnce(60, name, `api_key=${key}`, {});
  expect([byLogin.opened.length, byKey.opened.length, byKey.refused.length]).toEqual([150, 50, 10]);
  const session = (await owner.post('/api/sse/sessions', { topics: [name] })).body.session_id as string;
  expect(await streams.sse(`/sse?session=${session}`)).toMatchObject(tooMany);
  byLogin.opened[0]!.close();
  await eventually(async () => expect((await streams.sse(`/sse?session=${session}`)).body).toBeUndefined());
});

test('a topic token has its own limit of 200 open streams', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner, { access_level: 'private' });
  const make = async () =>
    (await owner.post(`/api/topics/${name}/access-tokens`, { name: 't', permissions: ['read'] })).body.token as string;
  const [one, other] = [await make(), await make()];
  const { opened, refused } = await openAtOnce(205, name, `token=${one}`, {});
  expect([opened.length, refused.length]).toEqual([200, 5]);
  expect((await streams.ws(`/${name}/ws?token=${other}`)).body).toBeUndefined();
  expect((await streams.sse(`/${name}/sse`, { token: owner.client.token })).body).toBeUndefined();
});

test('streams on other nodes count once the nodes have reported them', async () => {
  const { name } = await createTopic(await stack.person());
  const address = newAddress();
  for (const node of testStack().urls.keys())
    await openAtOnce(Math.floor(50 / testStack().urls.length), name, '', { address, node });
  for (const node of testStack().urls.keys()) {
    await eventually(
      async () => {
        const stream = await streams.sse(`/${name}/sse`, { address, node });
        stream.close();
        expect(stream).toMatchObject(tooMany);
      },
      { intervalMs: 1_000 },
    );
  }
});

test('refused streams do not count', async () => {
  const owner = await stack.person();
  const [open, secret] = [await createTopic(owner), await createTopic(owner, { access_level: 'private' })];
  const address = newAddress();
  for (let refused = 0; refused < 8; refused += 1) {
    expect((await streams.sse(`/sse?topics=${open.name},${secret.name}`, { address })).status).toBe(401);
  }
  const { opened } = await openAtOnce(50, open.name, '', { address });
  expect(opened.length).toBe(50);
});
