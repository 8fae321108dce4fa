import {
  runTeamSubscription,
  subscribeNewMember,
} from '@tocsin/shared/operations/teams/subscriptions/run-team-subscription.ts';
import { teamSubscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { teamMembers } from '@tocsin/shared/collections/teams.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from '../sweep/retention-deps.ts';
import { sweepEach } from '../sweep/sweep-each.ts';
import { removalDeps } from './removal-deps.ts';

/** Team subscriptions and new members per run, oldest first. */
const idsMax = 200;
/** Members of a team subscription per run. */
const membersMax = 500;

/** Completes team subscriptions and joins of members that were interrupted by a crash or an outage. */
export async function settleTeamSubscriptions(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  const { documents } = deps.engine;
  const pending = { equals: {}, from: 0, limit: idsMax };
  const [made, joined] = await Promise.all([
    documents.find(teamSubscriptions, { index: 'byPending', ...pending }),
    documents.find(teamMembers, { index: 'bySubscribing', ...pending }),
  ]);
  const subscribed = await sweepEach(deps, limit, {
    ids: joined.map(({ id }) => id),
    idsMax,
    sweepOne: async (id) => {
      await subscribeNewMember(removalDeps(deps), id);
      return { removed: 0, hasMore: false };
    },
    onFailure: (error, memberId) => deps.log.error({ err: error, memberId }, 'subscribing a new member failed'),
  });
  const settled = await sweepEach(deps, limit, {
    ids: made.map(({ id }) => id),
    idsMax,
    sweepOne: (id) => runTeamSubscription(removalDeps(deps), id, membersMax),
    onFailure: (error, teamSubscriptionId) =>
      deps.log.error({ err: error, teamSubscriptionId }, 'settling a team subscription failed'),
  });
  return { removed: settled.removed, hasMore: subscribed.hasMore || settled.hasMore };
}
