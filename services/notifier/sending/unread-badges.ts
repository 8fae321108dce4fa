import type { TopicAccess } from '@tocsin/shared/domain/topics/access.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import type { FollowedTopic } from '@tocsin/shared/ports/deliveries.ts';
import type { TopicMark } from '@tocsin/shared/ports/messages/message-reads.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { mayRead } from '@tocsin/shared/operations/topics/find-readers.ts';
import type { PushDeps } from './push-deps.ts';

/** Users per read of their subscriptions: short reads, between which publishes can run. */
const usersAtOnce = 100;

/** Subscriptions read for a page of recipients (20 for each of 500), and different topics counted. */
export const followedMax = 10_000;
export const topicsMax = 1_000;

/** Messages counted for a page of recipients, shared among the topics, but at most `perTopicMax` for each. */
const countedMax = 1_000;
const perTopicMax = 100;

/** Different teams whose members are read. */
const teamsMax = 200;

/**
 * Returns the number of unread messages of each user over all subscriptions whose topic the user may read, as the list
 * of subscriptions counts them. The cost per call is limited: of a topic at most 100 messages count, fewer with more
 * than ten topics. Users beyond `followedMax` subscriptions, or with a topic beyond `topicsMax`, get no number, so that
 * their badge stays as it is; topics with most of the users come first.
 */
export async function unreadBadges(
  { engine, reads, clock }: Pick<PushDeps, 'engine' | 'reads' | 'clock'>,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const followed = await followedTopics(engine.deliveries, userIds);
  const marks = earliestMarks([...followed.values()].flat());
  if (marks.length === 0) return new Map([...followed.keys()].map((userId) => [userId, 0]));
  const max = Math.min(Math.ceil(countedMax / marks.length), perTopicMax);
  const found = await engine.messages.timesAfter(marks, { max, now: clock() });
  const times = new Map(marks.map(({ topicId }, index) => [topicId, found[index]!]));
  const mayReadTopic = await accessTo(
    { documents: engine.documents, reads },
    marks.map(({ topicId }) => topicId).filter((topicId) => times.get(topicId)!.length > 0),
  );
  const unreadOf = ({ topicId, ...one }: FollowedTopic): number =>
    mayReadTopic(one.userId, topicId) ? countAfter(times.get(topicId)!, markOf(one)) : 0;
  return new Map(
    [...followed]
      .filter(([, own]) => own.every(({ topicId }) => times.has(topicId)))
      .map(([userId, own]) => [userId, own.reduce((sum, one) => sum + unreadOf(one), 0)]),
  );
}

/** The subscriptions of each user; without users beyond the limit. */
async function followedTopics(
  deliveries: PushDeps['engine']['deliveries'],
  userIds: readonly string[],
): Promise<Map<string, FollowedTopic[]>> {
  const sorted = [...new Set(userIds)].sort();
  const byUser = new Map<string, FollowedTopic[]>();
  let left = followedMax;
  for (let at = 0; at < sorted.length && left > 0; at += usersAtOnce) {
    const some = sorted.slice(at, at + usersAtOnce);
    const found = await deliveries.followedTopics(some, left + 1);
    for (const userId of some) byUser.set(userId, []);
    for (const one of found) byUser.get(one.userId)!.push(one);
    // The last user's subscriptions are incomplete, and those of the users after it are missing.
    if (found.length > left) for (const userId of some) if (userId >= found.at(-1)!.userId) byUser.delete(userId);
    left -= found.length;
  }
  return byUser;
}

const markOf = ({ lastViewedAt, createdAt }: Pick<FollowedTopic, 'lastViewedAt' | 'createdAt'>): number =>
  lastViewedAt ?? createdAt;

/** Returns the earliest mark of each topic, at most `topicsMax`. */
function earliestMarks(followed: readonly FollowedTopic[]): TopicMark[] {
  const marks = new Map<string, { after: number; users: number }>();
  for (const one of followed) {
    const known = marks.get(one.topicId);
    if (known === undefined) marks.set(one.topicId, { after: markOf(one), users: 1 });
    else {
      known.after = Math.min(known.after, markOf(one));
      known.users += 1;
    }
  }
  const all = [...marks];
  if (all.length > topicsMax) all.sort(([, a], [, b]) => b.users - a.users);
  return all.slice(0, topicsMax).map(([topicId, { after }]) => ({ topicId, after }));
}

/** Returns a check whether a user may read one of the topics: a subscription grants no access. */
async function accessTo(
  { documents, reads }: { documents: PushDeps['engine']['documents'] } & Pick<PushDeps, 'reads'>,
  topicIds: readonly string[],
): Promise<(userId: string, topicId: string) => boolean> {
  const found = await documents.pick(topics, topicIds, ['ownerId', 'teamId', 'accessLevel']);
  const known = new Map<string, TopicAccess>(found.map((topic) => [topic.id, topic]));
  const roles = new Map<string, ReadonlyMap<string, Role>>();
  for (const topic of known.values()) {
    const { teamId, accessLevel } = topic;
    if (teamId === null || accessLevel === 'public' || roles.has(teamId) || roles.size >= teamsMax) continue;
    roles.set(teamId, await reads.teamRoles(topic));
  }
  return (userId, topicId) => {
    const topic = known.get(topicId);
    return topic !== undefined && mayRead(userId, topic, roles.get(topic.teamId ?? '')?.get(userId) ?? null);
  };
}

/** Returns how many of the times, newest first, are after the mark. */
function countAfter(times: readonly number[], mark: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! > mark) low = middle + 1;
    else high = middle;
  }
  return low;
}
