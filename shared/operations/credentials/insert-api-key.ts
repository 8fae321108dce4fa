import type { ApiKey } from '../../domain/accounts/credentials.ts';
import { AppError } from '../../domain/errors.ts';
import { write, type Documents, type Write } from '../../ports/documents.ts';
import { apiKeys, apiKeysMax } from '../../collections/credentials.ts';
import { commitWithinQuota } from '../../collections/quota-guards.ts';

/**
 * Stores a key together with the other writes, unless the account has reached its limit. `loadOwner` resolves with the
 * write that requires the account, or throws. Throws `forbidden` `API key limit reached`.
 */
export async function insertApiKey(
  documents: Documents,
  key: ApiKey,
  { loadOwner, otherWrites }: { readonly loadOwner: () => Promise<Write>; readonly otherWrites: readonly Write[] },
): Promise<void> {
  await commitWithinQuota(documents, key.userId, async () => {
    const owner = await loadOwner();
    const count = await documents.count(apiKeys, { index: 'byUser', equals: { userId: key.userId } });
    if (count >= apiKeysMax) throw new AppError('forbidden', 'API key limit reached');
    return { writes: [owner, write.insert(apiKeys, key), ...otherWrites], result: undefined };
  });
}
