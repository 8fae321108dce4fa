import { AppError } from '@tocsin/shared/domain/errors.ts';
import { defaultMobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import type { TeamSettings, TeamSubscription } from '@tocsin/shared/domain/push/team-subscription.ts';
import { write, type Documents, type Write } from '@tocsin/shared/ports/documents.ts';
import type { Audit } from '@tocsin/shared/collections/audit-log.ts';
import { commitWithinQuota, type Prepared } from '@tocsin/shared/collections/quota-guards.ts';
import {
  findTeamSubscriptions,
  namedMembersMax,
  teamSubscriptionMembers,
  teamSubscriptions,
  teamSubscriptionsMax,
} from '@tocsin/shared/collections/subscriptions-collection.ts';
import { findMember, findTeam, teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { teamSubscriptionSchema } from '@tocsin/shared/wire/subscription.ts';
import { z } from 'zod';
import { settingsOf, teamSettingsField } from '../../../access/subscription-fields.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import { auditOf } from '../../../audit.ts';
import { optionalField, uuidField } from '../../../http/fields.ts';
import { route, type RequestContext, type Route } from '../../../http/route.ts';
import { loadTeam } from '../load-team.ts';
import { requireActiveTeam } from '../require-active-team.ts';
import { describeTeamSubscriptions } from './describe-team-subscriptions.ts';
import { settleSoon } from './settle-soon.ts';

const membersForm = `must be "all" or a list of 1 to ${namedMembersMax} IDs of members`;

const body = z
  .object({
    topic_name: z.string(),
    members: z
      .union([z.literal('all'), z.array(uuidField).min(1, membersForm).max(namedMembersMax, membersForm)], {
        error: membersForm,
      })
      .describe('`all` also covers members who join later.'),
    mobile_notification_settings: teamSettingsField,
    mandatory: optionalField(z.boolean()).describe('By default false.'),
  })
  .meta({
    examples: [{ topic_name: 'incidents', members: 'all', mobile_notification_settings: { priority_threshold: 4 } }],
  });

/** `POST /api/teams/{team_id}/subscriptions` */
export function createTeamSubscription(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  const load = loadTeam(deps, 'manager');
  return route({
    id: 'createTeamSubscription',
    method: 'POST',
    path: '/api/teams/{team_id}/subscriptions',
    summary: 'Subscribe members of a team to a topic of the team',
    description:
      'Settings of subscriptions that members already have stay. With `mandatory`, they change as little as needed, and ' +
      'the member cannot remove the subscription, turn its notifications off, raise its `priority_threshold`, or set a ' +
      '`tags_filter` or `max_per_minute` that excludes what the team set. Quiet hours, sound, vibration and pins are ' +
      "the member's. If several team subscriptions cover a member, a mandatory one applies, then the newest.",
    audience: 'account',
    scope: 'account:write',
    body,
    success: { status: 201, schema: teamSubscriptionSchema, description: 'The team subscription' },
    async load(context: RequestContext) {
      const { team } = await load(context);
      requireActiveTeam(team);
      return team;
    },
    async handle(context, { loaded, body: fields }) {
      const { documents } = deps.engine;
      const topic = await deps.directory.topicByName(fields.topic_name);
      if (topic === null) throw new AppError('not_found', 'Topic not found');
      const wish: Wish = {
        id: deps.makeId(),
        teamId: loaded.id,
        topicId: topic.id,
        userIds: fields.members === 'all' ? null : [...new Set(fields.members)],
        isMandatory: fields.mandatory ?? false,
        settings: teamSettingsOf(fields),
        now: context.now,
        audit: auditOf(deps, context),
        makeId: deps.makeId,
      };
      const made = await commitWithinQuota(documents, loaded.id, () => prepare(documents, wish));
      await settleSoon(deps, made.id);
      const [json] = await describeTeamSubscriptions(documents, [made]);
      if (json === undefined) throw new AppError('not_found', 'Topic not found');
      return { status: 201, body: json };
    },
  });
}

interface Wish {
  readonly id: string;
  readonly teamId: string;
  readonly topicId: string;
  /** The named members; null for all. */
  readonly userIds: readonly string[] | null;
  readonly isMandatory: boolean;
  readonly settings: TeamSettings;
  readonly now: number;
  readonly audit: Audit;
  readonly makeId: () => string;
}

function teamSettingsOf(fields: Pick<z.output<typeof body>, 'mobile_notification_settings'>): TeamSettings {
  const { mobileEnabled, webEnabled, quietHours, ...defaults } = defaultMobileSettings;
  return { ...defaults, ...settingsOf({ mobile_notification_settings: fields.mobile_notification_settings }) };
}

/**
 * Stores what the team set; members are subscribed afterwards. Throws 404, 403 for a deactivated team or too many
 * subscriptions of the team, and 422 for a topic outside the team and for people outside it.
 */
async function prepare(documents: Documents, wish: Wish): Promise<Prepared<TeamSubscription>> {
  const { teamId, topicId, now } = wish;
  const [team, topic] = await Promise.all([findTeam(documents, teamId), documents.get(topics, topicId)]);
  if (team === null) throw new AppError('not_found', 'Team not found');
  requireActiveTeam(team);
  if (topic === null) throw new AppError('not_found', 'Topic not found');
  if (topic.teamId !== teamId) throw new AppError('unprocessable', 'topic_name: must be a topic of the team');
  if ((await findTeamSubscriptions(documents, teamId)).length >= teamSubscriptionsMax)
    throw new AppError('forbidden', 'Team subscription limit reached');
  const made: TeamSubscription = {
    id: wish.id,
    version: 1,
    teamId,
    topicId,
    isForAll: wish.userIds === null,
    isMandatory: wish.isMandatory,
    settings: wish.settings,
    createdAt: now,
    endedAt: null,
    pendingSince: now,
    doneUpTo: null,
  };
  return {
    writes: [
      write.require(teams, team),
      write.require(topics, topic),
      write.insert(teamSubscriptions, made),
      ...(await nameWrites(documents, wish)),
      ...wish.audit({
        action: 'team.subscription_created',
        subject: { id: made.id },
        within: { type: 'team', id: teamId },
        details: { topic_id: topicId, for_all: made.isForAll, mandatory: made.isMandatory },
      }),
    ],
    result: made,
  };
}

async function nameWrites(documents: Documents, { id, teamId, userIds, makeId }: Wish): Promise<Write[]> {
  const members = await Promise.all((userIds ?? []).map((userId) => findMember(documents, teamId, userId)));
  return members.flatMap((member) => {
    if (member === null) throw new AppError('unprocessable', 'members: must be members of the team');
    const { userId } = member;
    return [
      // An update, so that a concurrent end of the membership reads the named members again.
      write.update(teamMembers, member, {}),
      write.insert(teamSubscriptionMembers, { id: makeId(), teamSubscriptionId: id, teamId, userId }),
    ];
  });
}
