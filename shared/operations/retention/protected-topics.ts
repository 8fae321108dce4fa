import { protectedHorizon } from '../../domain/retention/protection.ts';
import type { Documents } from '../../ports/documents.ts';
import type { MessageReads } from '../../ports/messages/message-reads.ts';
import { countedRecordsMax } from '../../wire/consumer.ts';
import { furthestBehind } from './settle-consumers.ts';

interface ProtectionDeps {
  readonly documents: Pick<Documents, 'find'>;
  readonly messages: Pick<MessageReads, 'countRecords'>;
}

/** Returns the topics of which a protected consumer has not read records that expired at or before the time. */
export async function findProtectedTopics(
  deps: ProtectionDeps,
  topicIds: readonly string[],
  upTo: number,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const topicId of topicIds) if (await hasProtected(deps, topicId, upTo)) found.add(topicId);
  return found;
}

async function hasProtected({ documents, messages }: ProtectionDeps, topicId: string, upTo: number): Promise<boolean> {
  for (const consumer of await furthestBehind(documents, topicId)) {
    const since = protectedHorizon(consumer, upTo);
    if (since >= upTo) continue;
    const of = { from: consumer.offset, since, now: upTo, max: countedRecordsMax };
    const { expired, isComplete } = await messages.countRecords(topicId, of);
    // Beyond the limit there can be records with a shorter lifetime.
    if (expired > 0 || !isComplete) return true;
  }
  return false;
}
