import { listConsents } from '@tocsin/shared/collections/consents.ts';
import { consentSchema, toConsentJson } from '@tocsin/shared/wire/consent.ts';
import type { ApiDeps } from '../../api-deps.ts';
import type { ExportSection } from '../../export/export-section.ts';
import { smallSection } from '../../export/small-section.ts';

/** The account's consents, in the form of its consent history. */
export function exportConsents({ engine: { documents } }: Pick<ApiDeps, 'engine'>): ExportSection {
  return smallSection({ name: 'consents', scopes: ['account:read'], schema: consentSchema }, async ({ caller }) =>
    (await listConsents(documents, caller.userId)).map(toConsentJson),
  );
}
