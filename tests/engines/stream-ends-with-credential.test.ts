import { expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { signLike } from '../support/sign-token.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';
import { useStreams } from '../support/use-streams.ts';
import { watchStreams } from '../support/watch-streams.ts';

const stack = useStack();
const store = useStore();
const streams = useStreams();

/** An owner with a private topic and a function that opens its streams. */
async function owned() {
  const owner = await stack.person({ tier: 'ESSENTIALS' });
  const [topic, other] = [await createTopic(owner, { access_level: 'private' }), await createTopic(owner)];
  return {
    owner,
    topic,
    watch: (by: { query?: string; token?: string }) =>
      watchStreams(streams, { topic: topic.name, otherTopics: by.query?.includes('tk_') ? [] : [other.name], ...by }),
  };
}

/** Long enough for all kinds of streams to open first, also on a busy machine. */
const lifetimeSeconds = 10;
const until = async (time: string) => new Promise((resolve) => setTimeout(resolve, Date.parse(time) - Date.now()));

test('disabling an account ends its streams without a notification to the nodes', async () => {
  const { owner, topic, watch } = await owned();
  const { key } = (await owner.post('/api/keys', { name: 'k' })).body;
  const { token } = (await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'] }))
    .body;
  const all = [
    await watch({ token: owner.client.token! }),
    await watch({ query: `api_key=${key}` }),
    await watch({ query: `token=${token}` }),
  ];
  const disable = () =>
    retryStale(async () => {
      const user = await store.documents().get(users, owner.id);
      await store.documents().update(users, user!, { isActive: false });
    });
  await Promise.all(all.map((each, at) => each.expectEnd(4401, at === 0 ? disable : () => Promise.resolve())));
});

/** An access token of the person's login with a lifetime of some seconds. */
const shortToken = ({ client }: Person, seconds: number): Promise<string> =>
  signLike(client.token!, { exp: Math.floor(Date.now() / 1_000) + seconds });

test('an expiring access token ends its streams', async () => {
  const { owner, topic, watch } = await owned();
  const token = await shortToken(owner, lifetimeSeconds);
  const session = (
    await stack.caller({ Authorization: `Bearer ${token}` }).post('/api/sse/sessions', { topics: [topic.name] })
  ).body.session_id as string;
  const [lost, kept, bySession] = [
    await watch({ token }),
    await watch({ token: owner.client.token! }),
    await streams.ws(`/ws?session=${session}`),
  ];
  await lost.expectEnd(4401, () => until(new Date(decodeJwt(token).exp! * 1_000).toISOString()));
  expect((await bySession.ended).code).toBe(4401);
  await kept.expectOpen((text) => owner.publish(topic.name, text));
});
