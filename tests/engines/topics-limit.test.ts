import { expect, test } from '@jest/globals';
import { write } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newTopic } from '@tocsin/shared/testing/builders.ts';
import { newTopicName } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

test('an account has at most 10,000 topics, including those of its teams', async () => {
  const [owner, admin] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const team_id = await stack.team(owner, [[admin, 'admin']]);
  for (let made = 0; made < 9_998; made += 909) {
    const many = Array.from({ length: Math.min(909, 9_998 - made) }, (_, at) =>
      newTopic(owner.id, { teamId: at % 2 === 0 ? team_id : null }),
    );
    await store.documents().commit(many.map((topic) => write.insert(topics, topic)));
  }
  const make = (over: object = {}) => ({ name: newTopicName(), ...over });
  const answers = await Promise.all(
    [owner, admin, owner, admin].map((person, node) =>
      person.client.call('POST', '/api/topics', { json: make({ team_id }), node }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403]);
  for (const fields of [make(), make({ access_level: 'private' })]) {
    expect(await owner.post('/api/topics', fields)).toMatchObject({
      status: 403,
      body: { detail: 'Topic limit reached' },
    });
  }
  expect((await admin.post('/api/topics', make())).status).toBe(201);
  expect((await owner.get('/api/topics/my?limit=1')).headers.get('x-total-count')).toBe('10000');
});
