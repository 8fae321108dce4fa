import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { insertMember, insertTeam } from '../support/arrange-by-store.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { noNotice } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { teams } from '@tocsin/shared/collections/teams.ts';
import { useStack, type Caller } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const newName = () => `team-${randomBytes(6).toString('hex')}`;
const create = (caller: Caller, over: object = {}) =>
  caller.post('/api/teams', { name: newName(), display_name: 'The crew', ...over });

test('an account has at most 100 teams, active or not', async () => {
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

/** Resolves in the next millisecond: teams of the same millisecond are unordered. */
async function timeGoesOn(): Promise<void> {
  const now = Date.now();
  await eventually(() => Date.now() > now, { intervalMs: 1 });
}

test("lists all teams of the caller, active or not, newest first, with the caller's role", async () => {
  const [owner, other] = [await stack.person({ tier: 'TEAM' }), await stack.person({ tier: 'TEAM' })];
  const first = (await create(owner)).body.id as string;
  await timeGoesOn();
  const joined = await insertTeam(store.documents(), other, { isActive: false });
  await insertMember(store.documents(), joined, owner, 'admin');
  await timeGoesOn();
  const last = (await create(owner)).body.id as string;
  await create(other);
  expect((await owner.get('/api/teams')).body).toMatchObject([
    { id: last, my_role: 'owner', is_active: true, member_count: 1 },
    { id: joined, my_role: 'admin', is_active: false, member_count: 2, owner_id: other.id },
    { id: first, my_role: 'owner' },
  ]);
});
