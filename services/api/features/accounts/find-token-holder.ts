import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { MailToken, MailTokenPurpose } from '@tocsin/shared/domain/accounts/mail-token.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { findMailToken } from '@tocsin/shared/collections/mail-tokens.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import type { ApiDeps } from '../../api-deps.ts';

/**
 * Returns the emailed token and its account. Throws `invalid`: `Token has expired`, or `Invalid or used token`
 * if it is unknown, used, replaced, or was sent to a previous email of the account.
 */
export async function findTokenHolder(
  deps: Pick<ApiDeps, 'clock' | 'engine'>,
  purpose: MailTokenPurpose,
  tokenHash: string,
): Promise<{ mailToken: MailToken; user: User }> {
  const { documents } = deps.engine;
  const mailToken = await findMailToken(documents, purpose, tokenHash);
  const user = mailToken === null ? null : await documents.get(users, mailToken.userId);
  if (mailToken === null || user === null || user.email !== mailToken.email)
    throw new AppError('invalid', 'Invalid or used token');
  if (mailToken.expiresAt <= deps.clock()) throw new AppError('invalid', 'Token has expired');
  return { mailToken, user };
}
