import { AppError } from '@tocsin/shared/domain/errors.ts';
import { endTeamSubscription } from '@tocsin/shared/operations/teams/subscriptions/end-team-subscription.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import { auditOf } from '../../../audit.ts';
import { pathId } from '../../../http/load-topic.ts';
import { route, type Route } from '../../../http/route.ts';
import { loadTeam } from '../load-team.ts';
import { settleSoon } from './settle-soon.ts';

/** `DELETE /api/teams/{team_id}/subscriptions/{team_subscription_id}` */
export function deleteTeamSubscription(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'deleteTeamSubscription',
    method: 'DELETE',
    path: '/api/teams/{team_id}/subscriptions/{team_subscription_id}',
    summary: 'End a subscription that the team set for its members',
    audience: 'account',
    scope: 'account:write',
    success: {
      status: 204,
      schema: null,
      description:
        'It binds no member any more. Subscriptions that it made end, after the response if the team is large; those ' +
        'that members had before stay theirs',
    },
    load: loadTeam(deps, 'manager'),
    async handle(context, { loaded: { team } }) {
      const { now } = context;
      const audit = auditOf(deps, context);
      const ended = await endTeamSubscription(
        deps.engine.documents,
        { id: pathId(context, 'team_subscription_id'), teamId: team.id, now },
        ({ id, topicId }) =>
          audit({
            action: 'team.subscription_ended',
            subject: { id },
            within: { type: 'team', id: team.id },
            details: { topic_id: topicId },
          }),
      );
      if (ended === null) throw new AppError('not_found', 'Team subscription not found');
      await settleSoon(deps, ended.id);
      return { status: 204 };
    },
  });
}
