import { retentionQueue, teamSubscriptionJob } from '@tocsin/shared/domain/retention/retention-job.ts';
import {
  runTeamSubscription,
  subscribeNewMember,
} from '@tocsin/shared/operations/teams/subscriptions/run-team-subscription.ts';
import type { SettleDeps } from '@tocsin/shared/operations/teams/subscriptions/settle-member.ts';
import type { ApiDeps } from '../../../api-deps.ts';

/** The number of members for which a request waits. */
const membersMax = 50;

const settleDeps = ({
  engine: { documents },
  makeId,
  clock,
}: Pick<ApiDeps, 'clock' | 'engine' | 'makeId'>): SettleDeps => ({
  documents,
  makeId,
  clock,
});

/** Subscribes or unsubscribes the first members and leaves the rest to a job, or to the next sweep after a failure. */
export async function settleSoon(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId'>,
  teamSubscriptionId: string,
): Promise<void> {
  try {
    const { hasMore } = await runTeamSubscription(settleDeps(deps), teamSubscriptionId, membersMax);
    if (hasMore)
      await deps.engine.jobQueue.add(retentionQueue, [teamSubscriptionJob(deps.makeId(), teamSubscriptionId)]);
  } catch (error) {
    deps.log.warn({ err: error, teamSubscriptionId }, 'leaving a team subscription to the next sweep');
  }
}

/** Subscribes a new member to what the team set for all, or leaves it to the next sweep after a failure. */
export async function subscribeSoon(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId'>,
  memberId: string,
): Promise<void> {
  try {
    await subscribeNewMember(settleDeps(deps), memberId);
  } catch (error) {
    deps.log.warn({ err: error, memberId }, 'leaving the subscriptions of a new member to the next sweep');
  }
}
