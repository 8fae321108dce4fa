import type { EscalationPolicy } from '../../../../api/wire.ts';
import { durationSeconds } from '../../../../parts/time/durations.ts';

export type TeamRole = 'owner' | 'admin' | 'member';

export interface StepDraft {
  /** Identifies the step while others are added and removed. */
  readonly key: number;
  readonly after: string;
  readonly kind: 'people' | 'topic';
  readonly users: readonly string[];
  /** Empty: no role. */
  readonly role: TeamRole | '';
  readonly topic: string;
}

/** A policy as the form holds it. */
export interface PolicyDraft {
  readonly minPriority: string;
  readonly repeatEvery: string;
  readonly repeatMax: string;
  readonly steps: readonly StepDraft[];
  readonly autoAck: boolean;
}

export const emptyStep = (key: number): StepDraft => ({
  key,
  after: '',
  kind: 'people',
  users: [],
  role: '',
  topic: '',
});

const suggested: PolicyDraft = { minPriority: '5', repeatEvery: '2m', repeatMax: '5', steps: [], autoAck: true };

export function draftOf(policy: EscalationPolicy | null): PolicyDraft {
  if (policy === null) return suggested;
  return {
    minPriority: String(policy.min_priority),
    repeatEvery: policy.repeat_every,
    repeatMax: String(policy.repeat_max),
    autoAck: policy.auto_ack_on_resolve,
    steps: policy.steps.map(({ after, to }, key) => ({
      ...emptyStep(key),
      after,
      ...('topic' in to
        ? { kind: 'topic' as const, topic: to.topic ?? '' }
        : { users: to.users, role: to.team_role ?? ('' as const) }),
    })),
  };
}

/** The policy as the API expects it. The server checks it. */
export function policyOf({ minPriority, repeatEvery, repeatMax, steps, autoAck }: PolicyDraft): EscalationPolicy {
  return {
    min_priority: Number(minPriority),
    repeat_every: repeatEvery.trim(),
    repeat_max: Number(repeatMax),
    auto_ack_on_resolve: autoAck,
    steps: steps.map(({ after, kind, users, role, topic }) => ({
      after: after.trim(),
      to: kind === 'topic' ? { topic: topic.trim() || null } : { users: [...users], team_role: role || null },
    })),
  };
}

/** The fields that errors of the server about all steps concern. */
export function stepErrorFields({ steps }: PolicyDraft): Readonly<Record<string, string>> {
  const tooEarly = steps.findIndex(
    ({ after }, at) => at > 0 && !(durationSeconds(after) > durationSeconds(steps[at - 1]!.after)),
  );
  const topic = steps.findIndex(({ kind }) => kind === 'topic');
  return {
    'steps: after must rise from step to step': `steps.${tooEarly}.after`,
    'steps: must not lead back to the topic': `steps.${topic}.to.topic`,
  };
}
