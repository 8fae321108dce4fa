import type { Identity } from '../domain/accounts/identity.ts';
import type { Collection, Documents } from '../ports/documents.ts';

export const identities: Collection<Identity> = {
  name: 'identities',
  fields: { provider: 'text', subject: 'text', userId: 'text', linkedAt: 'time' },
  uniqueKeys: { subject: ['provider', 'subject'] },
  indexes: { byUser: ['userId', 'linkedAt'] },
};

/** Returns the identity of the provider's subject, or null. */
export async function findIdentity(
  documents: Documents,
  of: Pick<Identity, 'provider' | 'subject'>,
): Promise<Identity | null> {
  const { provider, subject } = of;
  const [identity] = await documents.find(identities, { index: 'subject', equals: { provider, subject }, limit: 1 });
  return identity ?? null;
}
