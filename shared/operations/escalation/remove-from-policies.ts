import { withoutAccount } from '../../domain/escalation/escalation-policy.ts';
import { escalationAccounts } from '../../collections/escalation/escalations.ts';
import { topics } from '../../collections/topics.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { write, type Documents } from '../../ports/documents.ts';

/** Removes the deleted account from at most `limit` escalation policies; resolves with their number. */
export async function removeFromPolicies(documents: Documents, userId: string, limit: number): Promise<number> {
  const found = await documents.find(escalationAccounts, { index: 'byUser', equals: { userId }, limit });
  for (const { id, topicId } of found) {
    await retryStale(async () => {
      const topic = await documents.get(topics, topicId);
      const policy = topic?.escalation ?? null;
      await documents.commit([
        ...(topic === null || policy === null
          ? []
          : [write.update(topics, topic, { escalation: withoutAccount(policy, userId) })]),
        write.remove(escalationAccounts, id),
      ]);
    });
  }
  return found.length;
}
