import * as oidc from 'openid-client';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { orTellApp, type GoogleSignIn } from './google-sign-in.ts';

/** `GET /auth/google/login`: redirects the browser to Google, with a cookie that ties the sign-in to this browser. */
export function googleLogin(deps: Pick<ApiDeps, 'appUrl' | 'log'>, google: GoogleSignIn): Route {
  return route({
    id: 'googleLogin',
    method: 'GET',
    path: '/auth/google/login',
    summary: 'Start a sign-in with Google',
    audience: 'unread',
    success: {
      status: 302,
      schema: null,
      description: 'Redirects to Google, whose callback redirects to the app',
      headers: { Location: 'At Google.' },
    },
    handle: async () => {
      const provider = google.provider();
      return orTellApp(deps, async () => {
        const configuration = await provider();
        const login = {
          state: oidc.randomState(),
          nonce: oidc.randomNonce(),
          codeVerifier: oidc.randomPKCECodeVerifier(),
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
