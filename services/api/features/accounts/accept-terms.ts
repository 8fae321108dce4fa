import { AppError } from '@tocsin/shared/domain/errors.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { recordConsent } from '@tocsin/shared/collections/consents.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { consentSchema, toConsentJson } from '@tocsin/shared/wire/consent.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { loadAccount } from './load-account.ts';

const body = z.object({
  accepted: z.boolean(),
  consent_method: z.string().regex(/^[a-z0-9_]{1,50}$/, 'must be 1 to 50 lower-case letters, digits and underscores'),
});

/** Records that the account accepts the current terms and deactivates its earlier consents. */
export function acceptTerms(deps: Pick<ApiDeps, 'config' | 'directory' | 'engine' | 'makeId'>): Route {
  return route({
    id: 'acceptTerms',
    method: 'POST',
    path: '/auth/accept-terms',
    summary: 'Accept the current terms',
    audience: 'account',
    scope: 'account:write',
    body,
    errors: { 400: 'Malformed JSON, or the terms are not accepted.' },
    success: {
      status: 200,
      schema: z.object({ message: z.string(), consent: consentSchema }),
      description: 'The consent record',
    },
    handle: async (context, { body: input }) => {
      if (!input.accepted) throw new AppError('invalid', 'Terms must be accepted');
      const { documents } = deps.engine;
      const consent = {
        id: deps.makeId(),
        userId: context.account().userId,
        consentType: 'tos' as const,
        documentVersion: deps.config.TERMS_VERSION,
        acceptedAt: context.now,
        consentMethod: input.consent_method,
        isActive: true,
      };
      await retryStale(async () => {
        const user = await loadAccount(deps, context);
        await documents.commit([
          write.update(users, user, { termsAcceptedAt: context.now }),
          ...(await recordConsent(documents, consent)),
        ]);
      });
      await deps.directory.changed({ kind: 'user', userId: consent.userId });
      return { status: 200, body: { message: 'Terms accepted', consent: toConsentJson(consent) } };
    },
  });
}
