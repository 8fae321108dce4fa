import { expect, test } from '@jest/globals';
import { newId, newMember, newSubscription, newTeam, newTopic, testAudit } from '../../testing/builders.ts';
import { useTestEngine } from '../../testing/use-test-engine.ts';
import { removeMember } from './remove-member.ts';
import { subscriptions } from '../../collections/subscriptions-collection.ts';
import { findMember, teamMembers, teams } from '../../collections/teams.ts';
import { topics } from '../../collections/topics.ts';

const engine = await useTestEngine();

test("removes only the member's subscriptions to private topics of the team", async () => {
  const { documents } = engine;
  const team = await documents.insert(teams, newTeam(newId()));
  const [leaving, staying] = [newId(), newId()];
  for (const userId of [leaving, staying]) await documents.insert(teamMembers, newMember(team.id, userId));
  const open = await documents.insert(topics, newTopic(team.ownerId, { teamId: team.id, subscriberCount: 2 }));
  const closed = await documents.insert(
    topics,
    newTopic(team.ownerId, { teamId: team.id, accessLevel: 'private', subscriberCount: 2 }),
  );
  const own = await documents.insert(topics, newTopic(leaving, { accessLevel: 'private', subscriberCount: 2 }));
  for (const topic of [open, closed, own]) {
    for (const userId of [leaving, staying]) await documents.insert(subscriptions, newSubscription(userId, topic.id));
  }
  expect(await removeMember(documents, team.id, leaving, testAudit)).toEqual([
    { kind: 'member', teamId: team.id, userId: leaving },
  ]);
  const topicIds = async (userId: string) =>
    (await documents.find(subscriptions, { index: 'byUser', equals: { userId }, limit: 10 }))
      .map(({ topicId }) => topicId)
      .sort();
  expect(await topicIds(leaving)).toEqual([open.id, own.id].sort());
  expect(await topicIds(staying)).toEqual([open.id, closed.id, own.id].sort());
  const counts = await Promise.all(
    [open, closed, own].map(async ({ id }) => (await documents.get(topics, id))!.subscriberCount),
  );
  expect(counts).toEqual([2, 1, 2]);
  expect(await findMember(documents, team.id, leaving)).toBeNull();
  expect(await removeMember(documents, team.id, leaving, testAudit)).toBeNull();
});
