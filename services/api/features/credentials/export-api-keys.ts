import { findApiKeys } from '@tocsin/shared/collections/credentials.ts';
import { apiKeySchema, toApiKeyJson } from '@tocsin/shared/wire/api-key.ts';
import type { ApiDeps } from '../../api-deps.ts';
import type { ExportSection } from '../../export/export-section.ts';
import { smallSection } from '../../export/small-section.ts';

/** The account's API keys in the form of their list, without secrets. */
export function exportApiKeys({ engine: { documents }, usage }: Pick<ApiDeps, 'engine' | 'usage'>): ExportSection {
  return smallSection({ name: 'api_keys', scopes: ['keys:read'], schema: apiKeySchema }, async ({ caller, now }) =>
    (await usage.readApiKeys(() => findApiKeys(documents, caller.userId))).map((key) => toApiKeyJson(key, now)),
  );
}
