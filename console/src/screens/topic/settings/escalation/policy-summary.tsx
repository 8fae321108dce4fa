import type { ComponentChild } from 'preact';
import type { EscalationPolicy } from '../../../../api/wire.ts';
import { durationText } from '../../../../parts/time/durations.ts';

const messageTexts: Readonly<Record<number, string>> = {
  1: 'Every message needs',
  2: 'Messages of low priority and above need',
  3: 'Messages of default priority and above need',
  4: 'Messages of high and highest priority need',
  5: 'Messages of the highest priority need',
};

/** A step for a role includes the higher ones. */
const roleTexts = {
  owner: 'the owner of the team',
  admin: 'the owner and the admins of the team',
  member: 'all members of the team',
} as const;

interface PolicySummaryProps {
  readonly policy: EscalationPolicy;
  /** Names of accounts by ID. */
  readonly names: ReadonlyMap<string, string>;
}

/** What happens to a message under the policy, in plain language and in order. */
export function PolicySummary({ policy, names }: PolicySummaryProps) {
  const { min_priority: least, repeat_every: every, repeat_max: most, steps } = policy;
  return (
    <dl class="policy">
      <Line when="Immediately">{messageTexts[least]} an acknowledgement.</Line>
      {most > 0 && (
        <Line when={`Every ${durationText(every)}`}>
          Pushed again to everyone who got it, {most === 1 ? 'once' : `up to ${most} times`}.
        </Line>
      )}
      {steps.map(({ after, to }, index) => (
        <Line key={index} when={after === '' ? 'After …' : `After ${durationText(after)}`}>
          <Target to={to} names={names} />
        </Line>
      ))}
      <Line when="The end">
        {policy.auto_ack_on_resolve
          ? 'When someone acknowledges the message, or its alert is resolved.'
          : 'When someone acknowledges the message.'}
      </Line>
    </dl>
  );
}

function Line({ when, children }: { readonly when: string; readonly children: ComponentChild }) {
  return (
    <div>
      <dt>{when}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface TargetProps extends Pick<PolicySummaryProps, 'names'> {
  readonly to: EscalationPolicy['steps'][number]['to'];
}

function Target({ to, names }: TargetProps) {
  if ('topic' in to) return to.topic === null ? <>Skipped, because it has no topic.</> : <>Published to {to.topic}.</>;
  const people: ComponentChild[] = [
    ...(to.team_role === null ? [] : [roleTexts[to.team_role]]),
    ...to.users.map((id) => <bdi key={id}>{names.get(id) ?? unknownName}</bdi>),
  ];
  if (people.length === 0) return <>Skipped, because it has no people.</>;
  return <>Pushed to {people.flatMap((one, index) => (index === 0 ? [one] : [', ', one]))}.</>;
}

/** An account that a policy names and that none of the caller's teams contains. */
export const unknownName = 'another account';
