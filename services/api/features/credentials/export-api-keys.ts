import type { ApiDeps } from '../../api-deps.ts';
import type { ExportSection } from '../../export-section.ts';
import { smallSection } from '../../small-section.ts';
import { apiKeySchema, toApiKeyJson } from './api-key-json.ts';
import { findOwnApiKeys } from './find-own-api-keys.ts';

/** The account's API keys, as their list shows them: without their secrets. */
export function exportApiKeys({ engine: { documents } }: ApiDeps): ExportSection {
  return smallSection('api_keys', apiKeySchema, async ({ caller, now }) =>
    (await findOwnApiKeys(documents, caller.userId)).map((key) => toApiKeyJson(key, now)));
}
