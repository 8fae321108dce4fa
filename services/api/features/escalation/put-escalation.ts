import { topicChange } from '@tocsin/shared/domain/change.ts';
import { formatDuration, parseDuration } from '@tocsin/shared/domain/duration.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import {
  escalationLimits,
  type EscalationPolicy,
  type StepTarget,
} from '@tocsin/shared/domain/escalation/escalation-policy.ts';
import type { Priority } from '@tocsin/shared/domain/messages/message.ts';
import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { setEscalation } from '@tocsin/shared/operations/escalation/set-escalation.ts';
import { findReaders } from '@tocsin/shared/operations/topics/find-readers.ts';
import { escalationPolicySchema, teamRoles } from '@tocsin/shared/wire/escalation.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { uuidField } from '../../http/fields.ts';
import { loadManagedTopic, roleOf } from '../../http/load-topic.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { describeEscalation } from './describe-escalation.ts';

const {
  repeatEveryMsMin,
  repeatEveryMsMax,
  repeatMax,
  afterMsMax,
  steps: stepsMax,
  users: usersMax,
} = escalationLimits;

function durationField(minMs: number, maxMs: number): z.ZodType<number, string> {
  const range = `must be a duration from ${formatDuration(minMs)} to ${formatDuration(maxMs)}, such as 5m`;
  return z
    .string()
    .transform((text) => parseDuration(text) ?? Number.NaN)
    .refine((durationMs) => durationMs >= minMs && durationMs <= maxMs, range)
    .meta({ pattern: '^[0-9]{1,9}[smhd]$' });
}

const target = z
  .strictObject({
    users: z.array(uuidField).max(usersMax, `must be at most ${usersMax}`).nullish(),
    team_role: z.enum(teamRoles).nullish(),
    topic: z.string().nullish(),
  })
  .refine(
    ({ users, team_role: role, topic }) => {
      const hasPeople = (users ?? []).length > 0 || (role ?? null) !== null;
      return hasPeople !== ((topic ?? null) !== null);
    },
    { error: 'must have either users or team_role, or topic' },
  );

const body = z
  .object({
    min_priority: z.int().min(1, 'must be 1 to 5').max(5, 'must be 1 to 5'),
    repeat_every: durationField(repeatEveryMsMin, repeatEveryMsMax),
    repeat_max: z.int().min(0, `must be 0 to ${repeatMax}`).max(repeatMax, `must be 0 to ${repeatMax}`),
    steps: z
      .array(z.object({ after: durationField(1_000, afterMsMax), to: target }))
      .max(stepsMax, `must be at most ${stepsMax}`)
      .refine((steps) => steps.every(({ after }, at) => at === 0 || after > steps[at - 1]!.after), {
        error: 'after must rise from step to step',
      })
      .default([]),
    auto_ack_on_resolve: z.boolean().default(true),
  })
  .meta({
    examples: [
      {
        min_priority: 5,
        repeat_every: '2m',
        repeat_max: 5,
        steps: [{ after: '5m', to: { team_role: 'admin' } }],
        auto_ack_on_resolve: true,
      },
    ],
  });

type PutDeps = Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>;

/** `PUT /api/topics/{topic_id}/escalation` */
export function putEscalation(deps: PutDeps): Route {
  return route({
    id: 'putEscalation',
    method: 'PUT',
    path: '/api/topics/{topic_id}/escalation',
    summary: 'Set the escalation policy of a topic',
    description:
      'Messages of at least `min_priority` require an acknowledgement. Until they have one, they are pushed again to every ' +
      'device that matches, and each step pushes to more people or publishes to another topic that the caller manages. ' +
      'A `team_role` includes the higher roles. Also applies to messages that already wait.',
    audience: 'account',
    scope: 'topics:write',
    body,
    success: { status: 200, schema: escalationPolicySchema, description: 'The policy' },
    load: loadManagedTopic(deps.directory),
    async handle(context, { loaded, body: fields }) {
      const { documents } = deps.engine;
      const policy: EscalationPolicy = {
        minPriority: fields.min_priority as Priority,
        repeatEveryMs: fields.repeat_every,
        repeatMax: fields.repeat_max,
        steps: await Promise.all(
          fields.steps.map(async ({ after, to }, index) => ({
            afterMs: after,
            to: await readTarget(deps, context, { topic: loaded, to, field: `steps.${index}.to` }),
          })),
        ),
        autoAckOnResolve: fields.auto_ack_on_resolve,
        setBy: context.account().userId,
      };
      const topic = await setEscalation({ ...deps, documents }, { topicId: loaded.id, policy }, auditOf(deps, context));
      await deps.directory.changed(topicChange(topic));
      return { status: 200, body: await describeEscalation(documents, policy) };
    },
  });
}

/**
 * Throws 422 for users who cannot read the topic, a role without a team, and a topic that the caller does not manage.
 */
async function readTarget(
  deps: PutDeps,
  context: RequestContext,
  { topic, to, field }: { topic: Topic; to: z.output<typeof target>; field: string },
): Promise<StepTarget> {
  const { caller } = context;
  const topicName = to.topic ?? null;
  if (topicName !== null) {
    const named = await deps.directory.topicByName(topicName);
    const isManaged =
      named !== null && mayUseTopic(caller, named, 'manage', await roleOf(deps.directory, caller, named));
    if (!isManaged) throw new AppError('unprocessable', `${field}.topic: must be a topic that you manage`);
    return { kind: 'topic', topicId: named.id };
  }
  const teamRole = to.team_role ?? null;
  if (teamRole !== null && topic.teamId === null)
    throw new AppError('unprocessable', `${field}.team_role: requires a topic of a team`);
  const userIds = [...new Set(to.users ?? [])];
  const readers = await findReaders(deps.engine.documents, topic, userIds);
  const stranger = userIds.find((id) => !readers.has(id));
  if (stranger !== undefined) throw new AppError('unprocessable', `${field}.users: ${stranger} cannot read the topic`);
  return { kind: 'users', userIds, teamRole };
}
