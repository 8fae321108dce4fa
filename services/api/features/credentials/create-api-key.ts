import type { AccountCaller } from '@tocsin/shared/domain/caller.ts';
import { apiKeyPrefix, hasScope, type ApiKey, type Scope } from '@tocsin/shared/domain/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { hashSecret, makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { write, type Documents, type Write } from '@tocsin/shared/ports/documents.ts';
import { apiKeys } from '@tocsin/shared/stores/credentials.ts';
import { commitWithinQuota } from '@tocsin/shared/stores/quota-guards.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { optionalField } from '../../http/fields.ts';
import { requireOwnAccount } from '../../http/require-own-account.ts';
import { route, type Route } from '../../http/route.ts';
import { apiKeySchema, toApiKeyJson } from './api-key-json.ts';
import { credentialFields, requireFuture } from './credential-fields.ts';

/** Keys of one account. */
export const apiKeysMax = 100;

/** How much of the key lists show, so that its holder knows which one it is. */
const shownCharacters = 12;

const body = z.object({
  name: credentialFields.name,
  description: optionalField(credentialFields.description),
  scopes: optionalField(credentialFields.scopes),
  expires_at: optionalField(credentialFields.expiresAt),
}).meta({ examples: [{ name: 'backup script', scopes: ['publish'] }] });

/** `POST /api/keys` */
export function createApiKey(deps: ApiDeps): Route {
  return route({
    id: 'createApiKey',
    method: 'POST',
    path: '/api/keys',
    summary: 'Create an API key',
    audience: 'account',
    scope: 'keys:write',
    body,
    success: { status: 201, schema: apiKeySchema.extend({ key: z.string() }), description: 'The key; its secret is shown this once' },
    async handle(context, { body: fields }) {
      requireFuture(fields.expires_at, context.now);
      const caller = context.account();
      const granted = fields.scopes ?? ['*'];
      requireHeldScopes(caller, granted);
      const secret = makeSecret(apiKeyPrefix);
      const key: ApiKey = {
        id: deps.makeId(), version: 1, userId: caller.userId, name: fields.name, description: fields.description ?? null,
        secretHash: hashSecret(secret), keyPrefix: secret.slice(0, shownCharacters), scopes: granted, isActive: true,
        createdAt: context.now, expiresAt: fields.expires_at ?? null, lastUsedAt: null, requestCount: 0,
      };
      const recorded = auditOf(deps, context)({
        action: 'api_key.created', subject: key, details: { scopes: key.scopes, expires_at: key.expiresAt },
      });
      await store(deps.engine.documents, key, recorded);
      return { status: 201, body: { ...toApiKeyJson(key, context.now), key: secret } };
    },
  });
}

/** A key cannot make one that may do more than itself. */
function requireHeldScopes(caller: AccountCaller, wanted: readonly Scope[]): void {
  if (caller.scopes === null) return;
  const lacking = wanted.find((scope) => !hasScope(caller.scopes!, scope));
  if (lacking !== undefined) throw new AppError('forbidden', `Missing scope: ${lacking}`);
}

async function store(documents: Documents, key: ApiKey, recorded: readonly Write[]): Promise<void> {
  await commitWithinQuota(documents, key.userId, async () => {
    const owner = await requireOwnAccount(documents, key.userId);
    const count = await documents.count(apiKeys, { index: 'byUser', equals: { userId: key.userId } });
    if (count >= apiKeysMax) throw new AppError('forbidden', 'API key limit reached');
    return { writes: [owner, write.insert(apiKeys, key), ...recorded], result: undefined };
  });
}
