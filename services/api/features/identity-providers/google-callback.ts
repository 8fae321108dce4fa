import type * as oidc from 'openid-client';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import type { BegunLogin } from './login-cookie.ts';
import { redirectToApp, orRedirectWithError, type GoogleSignIn } from './google-sign-in.ts';
import { isIssuedTo } from './is-issued-to.ts';
import { claimsOf, toProfile, type ProviderProfile } from './provider-profile.ts';
import { recordRefusal } from './record-refusal.ts';
import { SignInFailed } from './sign-in-failed.ts';
import { signIn } from './sign-in.ts';

/** Parameters that Google adds (RFC 6749 §4.1.2, RFC 9207); openid-client validates them. */
const query = z.object({
  code: z.string().optional(),
  state: z.string().optional(),
  error: z.string().optional(),
  iss: z.string().optional(),
});

/** `GET /auth/google/callback`: the redirect target of Google. Redirects to the app with tokens or an error. */
export function googleCallback(
  deps: Pick<
    ApiDeps,
    'accessTokens' | 'appUrl' | 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'
  >,
  google: GoogleSignIn,
): Route {
  return route({
    id: 'googleCallback',
    method: 'GET',
    path: '/auth/google/callback',
    summary: 'Finish a sign-in with Google',
    audience: 'unread',
    query,
    success: {
      status: 302,
      schema: null,
      description: 'To the app: `/auth/callback#access_token=…&refresh_token=…`, or `#error=…`',
      headers: { Location: 'In the app.' },
    },
    handle: async (context) => {
      const provider = google.provider();
      const begun = await google.cookie.read(context.request);
      const app = { ...deps, appState: begun?.appState ?? null };
      const reply = await orRedirectWithError(
        app,
        async () => {
          const profile = await profileOf(google, await provider(), { context, begun });
          const { tokens } = await signIn(deps, context, profile);
          return redirectToApp(app, { access_token: tokens.access_token, refresh_token: tokens.refresh_token });
        },
        (fault, error) => recordRefusal(deps, context, 'google', { fault, error }),
      );
      return { ...reply, headers: { ...reply.headers, 'Set-Cookie': google.cookie.end } };
    },
  });
}

/** Returns the person, verified by the code and its ID token. Throws errors that `orRedirectWithError` handles. */
async function profileOf(
  google: GoogleSignIn,
  configuration: oidc.Configuration,
  { context, begun }: { readonly context: RequestContext; readonly begun: BegunLogin | null },
): Promise<ProviderProfile> {
  if (begun === null || begun.state !== context.searchParams.get('state')) throw new SignInFailed('invalid_state');
  const current = new URL(google.redirectUri);
  current.search = context.searchParams.toString();
  const { authorizationCodeGrant, fetchUserInfo } = await import('openid-client');
  const tokens = await authorizationCodeGrant(configuration, current, {
    pkceCodeVerifier: begun.codeVerifier,
    expectedState: begun.state,
    expectedNonce: begun.nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims()!;
  if (!isIssuedTo(claims, configuration.clientMetadata().client_id)) throw new SignInFailed('invalid_response');
  // Providers may omit the email from the ID token (OpenID Connect Core §5.4).
  const { userinfo_endpoint: more } = configuration.serverMetadata();
  if (claims['email'] !== undefined || more === undefined) return toProfile('google', claims.sub, claims);
  const userInfo = await fetchUserInfo(configuration, tokens.access_token, claims.sub);
  return toProfile('google', claims.sub, claimsOf(claims, userInfo));
}
