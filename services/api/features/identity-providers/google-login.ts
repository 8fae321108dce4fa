import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { orRedirectWithError, type GoogleSignIn } from './google-sign-in.ts';

/** `GET /auth/google/login`: redirects the browser to Google, with a cookie that ties the sign-in to this browser. */
export function googleLogin(deps: Pick<ApiDeps, 'appUrl' | 'log'>, google: GoogleSignIn): Route {
  return route({
    id: 'googleLogin',
    method: 'GET',
    path: '/auth/google/login',
    summary: 'Start a sign-in with Google',
    audience: 'unread',
    query: z.object({
      app_state: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be 1 to 128 letters, digits, dashes and underscores')
        .optional()
        .describe(
          'Returned in the fragment of the redirect to the app, which can thereby verify that it began the login.',
        ),
    }),
    success: {
      status: 302,
      schema: null,
      description: 'Redirects to Google, whose callback redirects to the app',
      headers: { Location: 'At Google.' },
    },
    handle: async (_context, { query: { app_state: appState = null } }) => {
      const provider = google.provider();
      return orRedirectWithError({ ...deps, appState }, async () => {
        const configuration = await provider();
        const oidc = await import('openid-client');
        const login = {
          state: oidc.randomState(),
          nonce: oidc.randomNonce(),
          codeVerifier: oidc.randomPKCECodeVerifier(),
          appState,
        };
        const location = oidc.buildAuthorizationUrl(configuration, {
          redirect_uri: google.redirectUri,
          scope: 'openid email profile',
          state: login.state,
          nonce: login.nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(login.codeVerifier),
          code_challenge_method: 'S256',
        });
        return { status: 302, headers: { Location: location.href, 'Set-Cookie': await google.cookie.keep(login) } };
      });
    },
  });
}
