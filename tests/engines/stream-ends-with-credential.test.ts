import { test } from '@jest/globals';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';
import { useStreams } from '../support/use-streams.ts';
import { watchStreams } from '../support/watch-streams.ts';

const stack = useStack();
const store = useStore();
const streams = useStreams();

/** An owner with a private topic, and how streams of it are opened. */
async function owned() {
  const owner = await stack.person({ tier: 'ESSENTIALS' });
  const [topic, other] = [await createTopic(owner, { access_level: 'private' }), await createTopic(owner)];
  return {
    owner,
    topic,
    watch: (by: { query?: string; token?: string }) =>
      watchStreams(streams, { topic: topic.name, beside: by.query?.includes('tk_') ? [] : [other.name], ...by }),
  };
}

test('an account that is disabled, though no node is told', async () => {
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
