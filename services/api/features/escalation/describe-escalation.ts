import { AppError } from '@tocsin/shared/domain/errors.ts';
import { topicsOfPolicy, type EscalationPolicy } from '@tocsin/shared/domain/escalation/escalation-policy.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { toEscalationPolicyJson, type EscalationPolicyJson } from '@tocsin/shared/wire/escalation.ts';

/** Returns the policy as JSON, with the current names of topics. Throws 404 without a policy. */
export async function describeEscalation(
  documents: Pick<Documents, 'pick'>,
  policy: EscalationPolicy | null,
): Promise<EscalationPolicyJson> {
  if (policy === null) throw new AppError('not_found', 'Escalation policy not found');
  const named = await documents.pick(topics, topicsOfPolicy(policy), ['name']);
  return toEscalationPolicyJson(policy, new Map(named.map(({ id, name }) => [id, name])));
}
