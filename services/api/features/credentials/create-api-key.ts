import { apiKeyPrefix, newApiKey } from '@tocsin/shared/domain/accounts/credentials.ts';
import { hashSecret, makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { insertApiKey } from '@tocsin/shared/operations/credentials/insert-api-key.ts';
import { apiKeySchema, toApiKeyJson } from '@tocsin/shared/wire/api-key.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { sendNotice } from '../../access/send-notice.ts';
import { auditOf } from '../../audit.ts';
import { optionalField } from '../../http/fields.ts';
import { requireOwnAccount } from '../../http/require-own-account.ts';
import { requireScopes, route, type Route } from '../../http/route.ts';
import { credentialFields, expiryOf } from './credential-fields.ts';

const body = z
  .object({
    name: credentialFields.name,
    description: optionalField(credentialFields.description),
    scopes: optionalField(credentialFields.scopes),
    expires_at: optionalField(credentialFields.expiresAt),
  })
  .meta({ examples: [{ name: 'backup script', scopes: ['publish'] }] });

/** `POST /api/keys` */
export function createApiKey(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'createApiKey',
    method: 'POST',
    path: '/api/keys',
    summary: 'Create an API key',
    description: 'An API key creates only keys with scopes that it has, and none that is valid longer than itself.',
    audience: 'account',
    scope: 'keys:write',
    body,
    success: {
      status: 201,
      schema: apiKeySchema.extend({ key: z.string() }),
      description: 'The key; its secret is shown only once',
    },
    async handle(context, { body: fields }) {
      const caller = context.account();
      const expiresAt = expiryOf(caller, fields.expires_at, context.now);
      const granted = fields.scopes ?? ['*'];
      requireScopes(caller, granted);
      const secret = makeSecret(apiKeyPrefix);
      const key = newApiKey(secret, {
        id: deps.makeId(),
        userId: caller.userId,
        name: fields.name,
        description: fields.description ?? null,
        secretHash: hashSecret(secret),
        scopes: granted,
        createdAt: context.now,
        expiresAt,
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
      const owner = await deps.directory.user(key.userId);
      if (owner !== null) await sendNotice(deps, owner.email, { kind: 'api-key-created', apiKeyId: key.id });
      return { status: 201, body: { ...toApiKeyJson(key, context.now), key: secret } };
    },
  });
}
