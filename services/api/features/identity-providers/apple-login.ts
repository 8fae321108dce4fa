import { AppError } from '@tocsin/shared/domain/errors.ts';
import { loginUserSchema, toLoginUserJson } from '@tocsin/shared/wire/user.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { optionalField } from '../../http/fields.ts';
import { route, type Route } from '../../http/route.ts';
import { loginTokensSchema } from '../../access/logins.ts';
import { appleIdentityToken } from './apple-identity-token.ts';
import { recordRefusal } from './record-refusal.ts';
import { SignInFailed } from './sign-in-failed.ts';
import { signIn } from './sign-in.ts';

/** Apple sends the name only at the first sign-in. It is accepted but not stored: an account shows its username. */
const fullName = z.object({ givenName: optionalField(z.string()), familyName: optionalField(z.string()) });

const body = z.object({
  identity_token: z.string(),
  user: z.string().min(1, 'is required'),
  full_name: optionalField(fullName),
});

/** `POST /auth/apple/mobile`: a login with the identity token that an app received from Apple. */
export function appleLogin(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  const verify = appleIdentityToken(deps.config, deps.clock);
  return route({
    id: 'appleLogin',
    method: 'POST',
    path: '/auth/apple/mobile',
    summary: 'Sign in with Apple, using the identity token of an app',
    audience: 'unread',
    body,
    errors: { 401: 'The identity token is wrong or expired, or is about another user.' },
    success: {
      status: 200,
      schema: loginTokensSchema.extend({ user: loginUserSchema }),
      description: 'The tokens of the new login, and the account',
    },
    handle: async (context, { body: { identity_token: token, user: subject } }) => {
      if (verify === null) throw new AppError('unavailable', 'Apple is not configured');
      try {
        const profile = await verify(token);
        if (profile.subject !== subject) throw new SignInFailed('invalid_response');
        const { user, tokens } = await signIn(deps, context, profile);
        return { status: 200, body: { ...tokens, user: toLoginUserJson(user, context.now) } };
      } catch (error) {
        if (error instanceof SignInFailed) await recordRefusal(deps, context, 'apple', { fault: error.fault, error });
        throw error;
      }
    },
  });
}
