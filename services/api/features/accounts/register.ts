import { usernameKey } from '@tocsin/shared/domain/accounts/account-rules.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { freeAddressAndUsername } from '@tocsin/shared/operations/accounts/accounts.ts';
import { registerAccount } from '@tocsin/shared/operations/accounts/register-account.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { requestMail } from '@tocsin/shared/runtime/request-mail.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditAs, auditOfSystem } from '../../audit.ts';
import { emailField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';
import { newPasswordField, usernameField } from './account-fields.ts';

const body = z
  .object({ email: emailField, username: usernameField, password: newPasswordField, terms_accepted: z.boolean() })
  .meta({
    examples: [{ email: 'ada@example.org', username: 'ada', password: 'correct horse battery', terms_accepted: true }],
  });

/**
 * Creates an account that can log in after its email is verified. 409 if the username is taken or the email belongs to
 * a verified account. Replaces an account that was never verified, but its link stays valid: the first link that is
 * opened decides.
 */
export function register(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'log' | 'makeId' | 'passwords' | 'wholeAddress'>,
): Route {
  return route({
    id: 'register',
    method: 'POST',
    path: '/auth/register',
    summary: 'Create an account; the emailed link verifies its email',
    audience: 'unread',
    body,
    success: {
      status: 201,
      schema: z.object({ message: z.string(), email: z.string(), username: z.string() }),
      description: 'The account was created and a verification email is queued',
    },
    errors: { 400: 'Malformed JSON, or the terms are not accepted.', 409: 'The username or the email is taken.' },
    handle: async (context, { body: input }) => {
      if (!input.terms_accepted) throw new AppError('invalid', 'Terms must be accepted');
      const { documents } = deps.engine;
      // Report taken names before the expensive hashing.
      await retryStale(() =>
        freeAddressAndUsername(
          documents,
          { email: input.email, usernameKey: usernameKey(input.username) },
          auditOfSystem(deps),
        ),
      );
      const passwordHash = await deps.passwords.hash(input.password);
      const id = deps.makeId();
      const registration = {
        id,
        email: input.email,
        username: input.username,
        usernameKey: usernameKey(input.username),
        passwordHash,
        termsVersion: deps.config.TERMS_VERSION,
        createdAt: context.now,
        tokenHash: null,
        tokenExpiresAt: null,
      };
      const user = await registerAccount(documents, registration, {
        makeId: deps.makeId,
        otherWrites: auditAs(deps, context, { actor: 'anonymous', through: 'nothing' })({
          action: 'account.created',
          subject: { id },
          details: { method: 'password' },
        }),
        audit: auditOfSystem(deps),
      });
      await requestMail(
        deps,
        { email: user.email, requester: context.address },
        { kind: 'verify-email', userId: id, registrationId: id },
      );
      return {
        status: 201,
        body: {
          message: 'Registered: open the link in the mail to verify the address',
          email: user.email,
          username: user.username,
        },
      };
    },
  });
}
