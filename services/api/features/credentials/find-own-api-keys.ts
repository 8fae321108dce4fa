import type { ApiKey } from '@tocsin/shared/domain/credentials.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { apiKeys } from '@tocsin/shared/stores/credentials.ts';
import { apiKeysMax } from './create-api-key.ts';

/** The account's keys, newest first. */
export function findOwnApiKeys(documents: Documents, userId: string): Promise<ApiKey[]> {
  return documents.find(apiKeys, { index: 'byUser', equals: { userId }, descending: true, limit: apiKeysMax });
}
