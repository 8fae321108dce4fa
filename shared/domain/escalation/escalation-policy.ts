import type { Priority } from '../messages/message.ts';
import type { Role } from '../teams/team.ts';

/** The policy of a topic: which messages require an acknowledgement, and what happens until they have one. */
export interface EscalationPolicy {
  /** Messages of at least this priority require an acknowledgement. */
  readonly minPriority: Priority;
  readonly repeatEveryMs: number;
  /** The number of repeats after the first push. */
  readonly repeatMax: number;
  readonly steps: readonly EscalationStep[];
  /** Whether a resolved alert acknowledges the message of its firing. */
  readonly autoAckOnResolve: boolean;
  /** The account that set the policy; null once the account is deleted. */
  readonly setBy: string | null;
}

export interface EscalationStep {
  /** Time since the escalation began. */
  readonly afterMs: number;
  readonly to: StepTarget;
}

export type StepTarget =
  /** The users, and the members of the topic's team with this or a higher role. */
  | { readonly kind: 'users'; readonly userIds: readonly string[]; readonly teamRole: Role | null }
  | { readonly kind: 'topic'; readonly topicId: string };

export const escalationLimits = {
  repeatEveryMsMin: 30_000,
  repeatEveryMsMax: 3_600_000,
  repeatMax: 20,
  steps: 5,
  afterMsMax: 86_400_000,
  /** Users that one step names. */
  users: 50,
  /** Topics of one chain of escalations: each check of a policy reads all of them. */
  chainedTopics: 50,
} as const;

const rolesFromLowest = ['member', 'admin', 'owner'] as const satisfies readonly Role[];

/** Whether a team member with the role belongs to a step for `wanted`: higher roles do too. */
export function reachesRole(role: Role, wanted: Role): boolean {
  return rolesFromLowest.indexOf(role) >= rolesFromLowest.indexOf(wanted);
}

/** Whether a message of the priority requires an acknowledgement. */
export function requiresAck(policy: EscalationPolicy | null, priority: Priority): boolean {
  return policy !== null && priority >= policy.minPriority;
}

/** Returns the accounts that the policy names. */
export function accountsOfPolicy({ steps, setBy }: EscalationPolicy): string[] {
  const named = steps.flatMap(({ to }) => (to.kind === 'users' ? to.userIds : []));
  return [...new Set([...named, ...(setBy === null ? [] : [setBy])])];
}

/** Returns the policy without the account. A step that named only this account remains, and is skipped when due. */
export function withoutAccount(policy: EscalationPolicy, userId: string): EscalationPolicy {
  return {
    ...policy,
    setBy: policy.setBy === userId ? null : policy.setBy,
    steps: policy.steps.map(({ afterMs, to }) => ({
      afterMs,
      to: to.kind === 'users' ? { ...to, userIds: to.userIds.filter((id) => id !== userId) } : to,
    })),
  };
}

/** Returns the IDs of the topics that the policy publishes to. */
export function topicsOfPolicy(policy: EscalationPolicy | null): string[] {
  return (policy?.steps ?? []).flatMap(({ to }) => (to.kind === 'topic' ? [to.topicId] : []));
}
