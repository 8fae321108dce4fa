import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { noNotice } from '@tocsin/shared/domain/teams/team-life.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { teams } from '@tocsin/shared/collections/teams.ts';
import { useStack, type Caller } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const newName = () => `team-${randomBytes(6).toString('hex')}`;
const create = (caller: Caller, over: object = {}) =>
  caller.post('/api/teams', { name: newName(), display_name: 'The crew', ...over });

test('an account has at most 100 teams, whether active or not', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const now = Date.now();
  await store.documents().commit(
    Array.from({ length: 98 }, (_, at) =>
      write.insert(teams, {
        id: randomUUID(),
        name: newName(),
        displayName: 'T',
        description: '',
        ownerId: owner.id,
        isActive: at % 2 === 0,
        createdAt: now,
        updatedAt: now,
        deactivatedAt: at % 2 === 0 ? null : now,
        ...noNotice,
        removal: null,
      }),
    ),
  );
  const made = await Promise.all(Array.from({ length: 5 }, () => create(owner)));
  expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403, 403]);
  expect(await create(owner)).toMatchObject({ status: 403, body: { detail: 'Team limit reached' } });
});
