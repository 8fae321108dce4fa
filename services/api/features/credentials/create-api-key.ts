import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import { apiKeyPrefix, hasScope, newApiKey, type Scope } from '@tocsin/shared/domain/accounts/credentials.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { hashSecret, makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { insertApiKey } from '@tocsin/shared/operations/credentials/insert-api-key.ts';
import { apiKeySchema, toApiKeyJson } from '@tocsin/shared/wire/api-key.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { optionalField } from '../../http/fields.ts';
import { requireOwnAccount } from '../../http/require-own-account.ts';
import { route, type Route } from '../../http/route.ts';
import { credentialFields, requireFuture } from './credential-fields.ts';

const body = z
  .object({
    name: credentialFields.name,
    description: optionalField(credentialFields.description),
    scopes: optionalField(credentialFields.scopes),
    expires_at: optionalField(credentialFields.expiresAt),
  })
  .meta({ examples: [{ name: 'backup script', scopes: ['publish'] }] });

/** `POST /api/keys` */
export function createApiKey(deps: Pick<ApiDeps, 'clock' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'createApiKey',
    method: 'POST',
    path: '/api/keys',
    summary: 'Create an API key',
    audience: 'account',
    scope: 'keys:write',
    body,
    success: {
      status: 201,
      schema: apiKeySchema.extend({ key: z.string() }),
      description: 'The key; its secret is shown only once',
    },
    async handle(context, { body: fields }) {
      requireFuture(fields.expires_at, context.now);
      const caller = context.account();
      const granted = fields.scopes ?? ['*'];
      requireHeldScopes(caller, granted);
      const secret = makeSecret(apiKeyPrefix);
      const key = newApiKey(secret, {
        id: deps.makeId(),
        userId: caller.userId,
        name: fields.name,
        description: fields.description ?? null,
        secretHash: hashSecret(secret),
        scopes: granted,
        createdAt: context.now,
        expiresAt: fields.expires_at ?? null,
      });
      const otherWrites = auditOf(
        deps,
        context,
      )({
        action: 'api_key.created',
        subject: key,
        details: { scopes: key.scopes, expires_at: key.expiresAt },
      });
      const { documents } = deps.engine;
      await insertApiKey(documents, key, { loadOwner: () => requireOwnAccount(documents, key.userId), otherWrites });
      return { status: 201, body: { ...toApiKeyJson(key, context.now), key: secret } };
    },
  });
}

/** A key cannot create a key with more scopes than its own. */
function requireHeldScopes(caller: AccountCaller, wanted: readonly Scope[]): void {
  if (caller.scopes === null) return;
  const lacking = wanted.find((scope) => !hasScope(caller.scopes!, scope));
  if (lacking !== undefined) throw new AppError('forbidden', `Missing scope: ${lacking}`);
}
