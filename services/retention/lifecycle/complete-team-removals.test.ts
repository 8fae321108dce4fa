import { expect, test } from '@jest/globals';
import { teams } from '@tocsin/shared/collections/teams.ts';
import { newId, newTeam } from '@tocsin/shared/testing/builders.ts';
import { useTestEngine } from '@tocsin/shared/testing/use-test-engine.ts';
import { completeTeamRemovals } from './complete-team-removals.ts';
import { withMethods, sweepDeps } from '../sweep/sweep-deps.fixtures.ts';

const engine = await useTestEngine();

test('a failed removal of a team does not block others and is completed by a later run', async () => {
  const made = await Promise.all(
    [1, 2, 3].map(() => engine.documents.insert(teams, newTeam(newId(), { removal: 'convert' }))),
  );
  const isThere = () => Promise.all(made.map(async ({ id }) => (await engine.documents.get(teams, id)) !== null));
  const broken = made.map(({ id }) => id).sort()[0]!;
  const commit: typeof engine.documents.commit = (writes) =>
    writes.some((one) => one.kind === 'remove' && one.id === broken)
      ? Promise.reject(new Error('broken'))
      : engine.documents.commit(writes);
  const run = (documents = engine.documents) =>
    completeTeamRemovals(sweepDeps(engine, Date.now, { documents }), {
      endsAt: Infinity,
      closing: new AbortController().signal,
    });
  expect(await run(withMethods(engine.documents, { commit }))).toEqual({ removed: 2, hasMore: false });
  expect(await isThere()).toEqual(made.map(({ id }) => id === broken));
  expect(await run()).toEqual({ removed: 1, hasMore: false });
});
