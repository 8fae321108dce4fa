import { z } from 'zod';
import { formatDuration } from '../domain/duration.ts';
import type { EscalationPolicy, EscalationStep } from '../domain/escalation/escalation-policy.ts';

/** The roles by which a step can name members of a team. */
export const teamRoles = ['owner', 'admin', 'member'] as const;

const stepSchema = z.object({
  after: z.string(),
  to: z.union([
    z.object({ users: z.array(z.uuid()), team_role: z.enum(teamRoles).nullable() }),
    z.object({ topic: z.string().nullable().describe('The current name of the topic; null if it was deleted.') }),
  ]),
});

/** The escalation policy of a topic. */
export const escalationPolicySchema = z
  .object({
    min_priority: z.int().min(1).max(5),
    repeat_every: z.string().describe('A duration, such as `2m`.'),
    repeat_max: z.int(),
    steps: z.array(stepSchema),
    auto_ack_on_resolve: z.boolean(),
  })
  .meta({
    id: 'EscalationPolicy',
    examples: [
      {
        min_priority: 5,
        repeat_every: '2m',
        repeat_max: 5,
        steps: [
          { after: '5m', to: { users: [], team_role: 'admin' } },
          { after: '15m', to: { topic: 'managers' } },
        ],
        auto_ack_on_resolve: true,
      },
    ],
  });

export type EscalationPolicyJson = z.infer<typeof escalationPolicySchema>;

/** `topicNames` contains the names of the topics that steps publish to, by ID. */
export function toEscalationPolicyJson(
  policy: EscalationPolicy,
  topicNames: ReadonlyMap<string, string>,
): EscalationPolicyJson {
  return {
    min_priority: policy.minPriority,
    repeat_every: formatDuration(policy.repeatEveryMs),
    repeat_max: policy.repeatMax,
    steps: policy.steps.map((step) => toStepJson(step, topicNames)),
    auto_ack_on_resolve: policy.autoAckOnResolve,
  };
}

function toStepJson({ afterMs, to }: EscalationStep, topicNames: ReadonlyMap<string, string>) {
  const after = formatDuration(afterMs);
  return to.kind === 'users'
    ? { after, to: { users: [...to.userIds], team_role: to.teamRole } }
    : { after, to: { topic: topicNames.get(to.topicId) ?? null } };
}
