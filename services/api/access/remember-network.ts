import { knownNetworks } from '@tocsin/shared/collections/known-networks.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { write, type Documents, type Write } from '@tocsin/shared/ports/documents.ts';

const dayMs = 86_400_000;

const idOf = (userId: string, network: string): string => hashSecret(`${userId} ${network}`);

/** Whether the account has logged in from the network, in the last 180 days. */
export async function isKnownNetwork(documents: Documents, userId: string, network: string): Promise<boolean> {
  return (await documents.get(knownNetworks, idOf(userId, network))) !== null;
}

/**
 * Returns the writes that remember the network of a login, and whether it is a new one for an account that has others.
 * Commit them within `retryStale`.
 */
export async function rememberNetwork(
  documents: Documents,
  at: { readonly userId: string; readonly network: string; readonly now: number },
): Promise<{ writes: Write[]; isNew: boolean }> {
  const id = idOf(at.userId, at.network);
  const known = await documents.get(knownNetworks, id);
  if (known !== null) {
    const isRecent = known.seenAt > at.now - dayMs;
    return { writes: isRecent ? [] : [write.update(knownNetworks, known, { seenAt: at.now })], isNew: false };
  }
  const others = await documents.find(knownNetworks, { index: 'byUser', equals: { userId: at.userId }, limit: 1 });
  return {
    writes: [write.insert(knownNetworks, { id, userId: at.userId, seenAt: at.now })],
    isNew: others.length > 0,
  };
}
