import { z } from 'zod';
import type { Consent } from '../domain/accounts/consent.ts';
import { toIso } from '../domain/to-iso.ts';

export const consentSchema = z.object({
  id: z.uuid(),
  consent_type: z.string(),
  document_version: z.string(),
  accepted_at: z.iso.datetime(),
  consent_method: z.string(),
  is_active: z.boolean(),
});

export function toConsentJson(consent: Omit<Consent, 'version'>): z.infer<typeof consentSchema> {
  return {
    id: consent.id,
    consent_type: consent.consentType,
    document_version: consent.documentVersion,
    accepted_at: toIso(consent.acceptedAt),
    consent_method: consent.consentMethod,
    is_active: consent.isActive,
  };
}
