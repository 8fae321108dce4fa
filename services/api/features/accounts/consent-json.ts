import type { Consent } from '@tocsin/shared/domain/accounts/consent.ts';
import { toIso } from '@tocsin/shared/wire/message-json.ts';
import { z } from 'zod';

export const consentSchema = z.object({
  id: z.uuid(),
  consent_type: z.string(),
  document_version: z.string(),
  accepted_at: z.iso.datetime(),
  consent_method: z.string(),
  is_active: z.boolean(),
});

/** The consent record of the interface. */
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
