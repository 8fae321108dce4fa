import { escalations } from '../../collections/escalation/escalations.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import type { Documents } from '../../ports/documents.ts';

/** Removes the name of the deleted account from at most `limit` acknowledgements; resolves with their number. */
export async function forgetAcknowledgements(documents: Documents, userId: string, limit: number): Promise<number> {
  const found = await documents.find(escalations, { index: 'byAckUser', equals: { ackUserId: userId }, limit });
  for (const { id } of found) {
    await retryStale(async () => {
      const stored = await documents.get(escalations, id);
      if (stored === null || stored.ackUserId !== userId) return;
      const given = stored.acknowledgement;
      const acknowledgement = given === null ? null : { ...given, by: { ...given.by, name: null, accountId: null } };
      await documents.update(escalations, stored, { acknowledgement, ackUserId: null });
    });
  }
  return found.length;
}
