import type { ApiKey } from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { apiKeys } from '@tocsin/shared/collections/credentials.ts';
import { pathId } from '../../http/load-topic.ts';
import type { RequestContext } from '../../http/route.ts';

/** Returns the caller's key with the ID in the path. Throws 404 for any other key. */
export async function loadApiKey(documents: Documents, context: RequestContext): Promise<ApiKey> {
  const { userId } = context.account();
  const key = await documents.get(apiKeys, pathId(context, 'key_id'));
  if (key === null || key.userId !== userId) throw new AppError('not_found', 'API key not found');
  return key;
}
