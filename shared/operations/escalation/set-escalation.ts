import { AppError } from '../../domain/errors.ts';
import {
  accountsOfPolicy,
  escalationLimits,
  topicsOfPolicy,
  type EscalationPolicy,
} from '../../domain/escalation/escalation-policy.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type { Audit } from '../../collections/audit-log.ts';
import {
  escalationAccounts,
  escalationChanges,
  findEscalationAccounts,
} from '../../collections/escalation/escalations.ts';
import { topics } from '../../collections/topics.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { write, type Documents, type Write } from '../../ports/documents.ts';

export interface SetEscalationDeps {
  readonly documents: Documents;
  readonly makeId: () => string;
  readonly clock: () => number;
}

export interface EscalationSetting {
  readonly topicId: string;
  /** Null removes the policy. */
  readonly policy: EscalationPolicy | null;
}

/**
 * Stores the escalation policy of a topic, which also applies to messages that wait for an acknowledgement. Resolves
 * with the topic. Throws `not_found` if the topic does not exist or has no policy to remove, and `unprocessable` if
 * the messages that steps publish could come back to the topic; concurrent changes of several topics cannot create
 * such a cycle.
 */
export function setEscalation(
  { documents, makeId, clock }: SetEscalationDeps,
  { topicId, policy }: EscalationSetting,
  audit: Audit,
): Promise<Topic> {
  return retryStale(async () => {
    const topic = await documents.get(topics, topicId);
    if (topic === null) throw new AppError('not_found', 'Topic not found');
    if (policy === null && topic.escalation === null) throw new AppError('not_found', 'Escalation policy not found');
    const chained = await followChain(documents, topic.id, policy);
    await documents.commit([
      write.update(topics, topic, { escalation: policy }),
      ...chained.map((one) => write.require(topics, one)),
      ...(await accountWrites(documents, topicId, policy, makeId)),
      write.insert(escalationChanges, { id: makeId(), topicId, changedAt: clock() }),
      ...audit({
        action: policy === null ? 'topic.escalation_removed' : 'topic.escalation_set',
        subject: topic,
        details: {},
      }),
    ]);
    return { ...topic, escalation: policy, version: topic.version + 1 };
  });
}

/** Returns all topics that escalations of the policy can reach. Throws if the first topic is one of them. */
async function followChain(documents: Documents, firstId: string, policy: EscalationPolicy | null): Promise<Topic[]> {
  const found = new Map<string, Topic>();
  let next = [...new Set(topicsOfPolicy(policy))];
  while (next.length > 0) {
    if (next.includes(firstId)) throw new AppError('unprocessable', 'steps: must not lead back to the topic');
    if (found.size + next.length > escalationLimits.chainedTopics)
      throw new AppError('unprocessable', `steps: must not reach more than ${escalationLimits.chainedTopics} topics`);
    for (const topic of await documents.getMany(topics, next)) found.set(topic.id, topic);
    const following = next.flatMap((id) => topicsOfPolicy(found.get(id)?.escalation ?? null));
    next = [...new Set(following)].filter((id) => !found.has(id));
  }
  return [...found.values()];
}

async function accountWrites(
  documents: Documents,
  topicId: string,
  policy: EscalationPolicy | null,
  makeId: () => string,
): Promise<Write[]> {
  const former = await findEscalationAccounts(documents, topicId);
  const wanted = new Set(policy === null ? [] : accountsOfPolicy(policy));
  const known = new Set(former.map(({ userId }) => userId));
  return [
    ...former.filter(({ userId }) => !wanted.has(userId)).map(({ id }) => write.remove(escalationAccounts, id)),
    ...[...wanted]
      .filter((userId) => !known.has(userId))
      .map((userId) => write.insert(escalationAccounts, { id: makeId(), topicId, userId })),
  ];
}
