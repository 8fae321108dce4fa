import type { NoticeJob } from '@tocsin/shared/domain/accounts/mail-job.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { apiKeys, loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { identities } from '@tocsin/shared/collections/identities.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { accountNoticeMail, type AccountEvent } from './templates/account-notice-mail.ts';
import type { Mail } from './templates/mail.ts';

/** Composes a notice to the owner of an account; null if the account or the subject of the notice was removed. */
export async function composeNotice(
  { documents, baseUrl }: { readonly documents: Documents; readonly baseUrl: string },
  job: NoticeJob,
): Promise<Mail | null> {
  const found = await eventOf(documents, job);
  const user = found === null ? null : await documents.get(users, found.userId);
  if (found === null || user === null || !user.isActive) return null;
  return accountNoticeMail(recipient(user), found.event, `${baseUrl}/console/forgot-password`);
}

const recipient = (user: User) => ({ name: user.username, address: user.email });

async function eventOf(documents: Documents, job: NoticeJob): Promise<{ userId: string; event: AccountEvent } | null> {
  switch (job.kind) {
    case 'password-changed':
      return { userId: job.userId, event: { kind: job.kind, at: job.at } };
    case 'api-key-created': {
      const key = await documents.get(apiKeys, job.apiKeyId);
      return key && { userId: key.userId, event: { kind: job.kind, at: key.createdAt, name: key.name } };
    }
    case 'identity-linked': {
      const identity = await documents.get(identities, job.identityId);
      const provider = identity?.provider === 'apple' ? 'Apple' : 'Google';
      return identity && { userId: identity.userId, event: { kind: job.kind, at: identity.linkedAt, provider } };
    }
    case 'new-login': {
      const login = await documents.get(loginSessions, job.sessionId);
      if (login === null) return null;
      const { userId, createdAt: at, address, userAgent } = login;
      return { userId, event: { kind: job.kind, at, address, userAgent } };
    }
  }
}
