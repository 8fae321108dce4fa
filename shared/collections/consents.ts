import type { Consent } from '../domain/accounts/consent.ts';
import { write, type Collection, type Documents, type New, type Write } from '../ports/documents.ts';

export const consents: Collection<Consent> = {
  name: 'consents',
  fields: {
    userId: 'text',
    consentType: 'text',
    documentVersion: 'text',
    acceptedAt: 'time',
    consentMethod: 'text',
    isActive: 'boolean',
  },
  uniqueKeys: {},
  indexes: { byUser: ['userId', 'acceptedAt'], byActive: ['userId', 'isActive'] },
};

/** Returns the account's consents, newest first, at most 10,000. */
export function listConsents(documents: Documents, userId: string): Promise<Consent[]> {
  return documents.find(consents, { index: 'byUser', equals: { userId }, descending: true, limit: 10_000 });
}

/**
 * Returns the writes that record a consent and deactivate the earlier ones. Commit them with a versioned write of the
 * account, so that only one of two concurrent consents becomes active.
 */
export async function recordConsent(documents: Documents, consent: New<Consent>): Promise<Write[]> {
  const earlier = await documents.find(consents, {
    index: 'byActive',
    equals: { userId: consent.userId, isActive: true },
    limit: 100,
  });
  return [...earlier.map((one) => write.update(consents, one, { isActive: false })), write.insert(consents, consent)];
}
