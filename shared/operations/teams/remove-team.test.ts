import { expect, test } from '@jest/globals';
import type { Team, TeamInvite } from '../../domain/teams/team.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import { write, type New } from '../../ports/documents.ts';
import { newId, newMember, newTeam, newTopic, testAudit } from '../../testing/builders.ts';
import { useTestEngine } from '../../testing/use-test-engine.ts';
import { completeRemoval, findRemovals, removeTeam, type RemovalStep, type RemoveTeamDeps } from './remove-team.ts';
import { teamInvites } from '../../collections/team-invites.ts';
import { findMembers, findTeam, teamMembers, teams } from '../../collections/teams.ts';
import { topicCleanups } from '../../collections/topic-cleanups.ts';
import { topics } from '../../collections/topics.ts';

const engine = await useTestEngine();

const newInvite = (teamId: string): New<TeamInvite> => ({
  id: newId(),
  teamId,
  email: `${newId()}@example.org`,
  role: 'member',
  invitedById: newId(),
  tokenHash: null,
  createdAt: 1,
  expiresAt: Date.now() + 1_000,
});

/** A team with 230 members, one invite, and topics of which every second one is discoverable. */
async function teamWithTopics(topicCount: number): Promise<{ team: Team; made: Topic[] }> {
  const { documents } = engine;
  const team = await documents.insert(teams, newTeam(newId()));
  await documents.commit(Array.from({ length: 230 }, () => write.insert(teamMembers, newMember(team.id, newId()))));
  await documents.insert(teamInvites, newInvite(team.id));
  const made: Topic[] = [];
  for (let at = 0; at < topicCount; at++) {
    made.push(
      await documents.insert(
        topics,
        newTopic(team.ownerId, {
          teamId: team.id,
          isListed: at % 2 === 0,
          isDiscoverable: at % 2 === 0,
          description: 'd',
        }),
      ),
    );
  }
  return { team, made };
}

function deps(onStep: (step: RemovalStep) => void = () => undefined): RemoveTeamDeps {
  return {
    documents: engine.documents,
    makeId: newId,
    clock: () => Date.now(),
    audit: testAudit,
    onStep: async (step) => onStep(step),
  };
}

/** Returns the remaining documents of the team. */
async function remainingDocuments({ id }: Team) {
  const { documents } = engine;
  return {
    team: await documents.get(teams, id),
    members: (await findMembers(documents, id)).length,
    invites: await documents.count(teamInvites, { index: 'byTeam', equals: { teamId: id } }),
    topics: await documents.count(topics, { index: 'byTeam', equals: { teamId: id } }),
  };
}
const noDocuments = { team: null, members: 0, invites: 0, topics: 0 };

const cleanupsOf = async (made: readonly Topic[]) =>
  (
    await Promise.all(
      made.map(({ id: topicId }) =>
        engine.documents.find(topicCleanups, { index: 'byTopic', equals: { topicId }, limit: 10 }),
      ),
    )
  )
    .flat()
    .map(({ kind }) => kind);

test('removes topics with the team, notifies of each and schedules its clean-up', async () => {
  const { team, made } = await teamWithTopics(205);
  const steps: RemovalStep[] = [];
  await removeTeam(
    deps((step) => steps.push(step)),
    team.id,
    'erase',
    testAudit,
  );
  expect(await remainingDocuments(team)).toEqual(noDocuments);
  expect(
    await engine.documents.getMany(
      topics,
      made.map(({ id }) => id),
    ),
  ).toEqual([]);
  expect(await cleanupsOf(made)).toEqual(made.map(() => 'erase'));
  const changes = steps.flatMap((step) => step.changes.map((change) => change.kind));
  expect([
    changes.filter((kind) => kind === 'topic').length,
    changes.filter((kind) => kind === 'member').length,
  ]).toEqual([205, 230]);
  expect(new Set(steps.flatMap((step) => step.cleanups.map(({ topicId }) => topicId)))).toEqual(
    new Set(made.map(({ id }) => id)),
  );
  expect((await engine.documents.insert(teams, newTeam(newId(), { name: team.name }))).name).toBe(team.name);
});

test('turns topics into private topics of the owner and removes subscribers without access', async () => {
  const { team, made } = await teamWithTopics(3);
  await removeTeam(deps(), team.id, 'convert', testAudit);
  expect(await remainingDocuments(team)).toEqual(noDocuments);
  const kept = await engine.documents.getMany(
    topics,
    made.map(({ id }) => id),
  );
  expect(kept.length).toBe(3);
  for (const topic of kept)
    expect(topic).toMatchObject({ ownerId: team.ownerId, teamId: null, accessLevel: 'private', isListed: false });
  expect(await cleanupsOf(made)).toEqual(['prune', 'prune', 'prune']);
});

test('refuses to remove a team with a topic under legal hold, unless topics are kept', async () => {
  const { team, made } = await teamWithTopics(2);
  await engine.documents.update(topics, made[1]!, { isHeld: true });
  await expect(removeTeam(deps(), team.id, 'erase', testAudit)).rejects.toThrow('Topic is under legal hold');
  expect(await remainingDocuments(team)).toMatchObject({ team: { removal: null }, members: 230, topics: 2 });
  await removeTeam(deps(), team.id, 'convert', testAudit);
  expect(await engine.documents.get(topics, made[1]!.id)).toMatchObject({ teamId: null, isHeld: true });
});

test('keeps a topic that is put under legal hold during the removal', async () => {
  const { team, made } = await teamWithTopics(2);
  const hold = (step: RemovalStep) =>
    step.changes[0]!.kind === 'team' ? engine.documents.get(topics, made[0]!.id) : null;
  const held = {
    ...deps(),
    onStep: async (step: RemovalStep) => {
      const topic = await hold(step);
      if (topic !== null) await engine.documents.update(topics, topic, { isHeld: true });
    },
  };
  await removeTeam(held, team.id, 'erase', testAudit);
  expect(await remainingDocuments(team)).toEqual(noDocuments);
  expect(await engine.documents.get(topics, made[0]!.id)).toMatchObject({ teamId: null, accessLevel: 'private' });
  expect(await engine.documents.get(topics, made[1]!.id)).toBeNull();
});

test('hides the team immediately and completes an interrupted removal', async () => {
  for (let interruptAfter = 0; interruptAfter < 6; interruptAfter++) {
    const { team, made } = await teamWithTopics(105);
    let steps = 0;
    const cut = deps(() => {
      if (steps++ === interruptAfter) throw new Error('the process died');
    });
    await expect(removeTeam(cut, team.id, 'erase', testAudit)).rejects.toThrow('the process died');
    expect(await findTeam(engine.documents, team.id)).toBeNull();
    await expect(removeTeam(deps(), team.id, 'convert', testAudit)).rejects.toThrow('Team not found');
    const found = (await findRemovals(engine.documents, 100)).filter(({ id }) => id === team.id);
    expect(found.length).toBe(1);
    await Promise.all(found.flatMap((one) => [completeRemoval(deps(), one), completeRemoval(deps(), one)]));
    expect(await remainingDocuments(team)).toEqual(noDocuments);
    expect(
      await engine.documents.getMany(
        topics,
        made.map(({ id }) => id),
      ),
    ).toEqual([]);
  }
});
