import type { MailToken, MailTokenPurpose } from '../domain/accounts/mail-token.ts';
import {
  UniqueKeyViolation,
  write,
  type Collection,
  type Documents,
  type New,
  type Write,
} from '../ports/documents.ts';
import { retryStale } from '../documents/retry-stale.ts';

export const mailTokens: Collection<MailToken> = {
  name: 'mailTokens',
  fields: { purpose: 'text', userId: 'text', email: 'text', tokenHash: 'text', expiresAt: 'time' },
  uniqueKeys: { token: ['tokenHash'], current: ['userId', 'purpose'] },
  indexes: { byExpiry: ['expiresAt'] },
};

/** Returns the token with this hash, expired or not, or null. */
export async function findMailToken(
  documents: Documents,
  purpose: MailTokenPurpose,
  tokenHash: string,
): Promise<MailToken | null> {
  const [token] = await documents.find(mailTokens, { index: 'token', equals: { tokenHash }, limit: 1 });
  return token?.purpose === purpose ? token : null;
}

/** Stores a token and invalidates the account's earlier one with the same purpose. */
export async function storeMailToken(documents: Documents, token: New<MailToken>): Promise<void> {
  await retryStale(async () => {
    const older = await documents.find(mailTokens, {
      index: 'current',
      equals: { userId: token.userId, purpose: token.purpose },
      limit: 1,
    });
    await documents.commit([...older.map((one) => write.remove(mailTokens, one.id)), write.insert(mailTokens, token)]);
  }, isConcurrentSender);
}

const isConcurrentSender = (error: unknown): boolean =>
  error instanceof UniqueKeyViolation && error.collection === mailTokens.name;

/** Returns the writes that invalidate the account's tokens, all or those of one purpose. */
export async function invalidateMailTokens(
  documents: Documents,
  userId: string,
  purpose?: MailTokenPurpose,
): Promise<Write[]> {
  const equals = purpose === undefined ? { userId } : { userId, purpose };
  const found = await documents.find(mailTokens, { index: 'current', equals, limit: 10 });
  return found.map((token) => write.remove(mailTokens, token.id));
}
