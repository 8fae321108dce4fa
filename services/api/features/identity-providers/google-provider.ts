import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import * as oidc from 'openid-client';

/** A provider that is slower counts as away: a person is waiting. */
const timeoutSeconds = 10;

/** How long what the provider published of itself is used. Its keys are looked after by the library. */
const metadataLifetimeMs = 3_600_000;

/** The provider's configuration as it published it; rejects as openid-client does when it cannot be had. */
export type GoogleProvider = () => Promise<oidc.Configuration>;

/** Google, or whichever OpenID provider GOOGLE_ISSUER names; null when it is not configured. Asked for at the first sign-in. */
export function googleProvider(config: Config, clock: Clock): GoogleProvider | null {
  const { GOOGLE_CLIENT_ID: clientId, GOOGLE_CLIENT_SECRET: clientSecret } = config;
  if (clientId === undefined || clientSecret === undefined) return null;
  let known: { readonly discovered: Promise<oidc.Configuration>; readonly endsAt: number } | undefined;
  return () => {
    if (known !== undefined && known.endsAt > clock()) return known.discovered;
    const asked = {
      discovered: discover(new URL(config.GOOGLE_ISSUER), clientId, clientSecret),
      endsAt: clock() + metadataLifetimeMs,
    };
    known = asked;
    // A failure is not kept: the next sign-in asks again.
    asked.discovered.catch(() => {
      if (known === asked) known = undefined;
    });
    return asked.discovered;
  };
}

function discover(issuer: URL, clientId: string, clientSecret: string): Promise<oidc.Configuration> {
  // An http: issuer is a provider on the operator's own network. The ID token's signature is checked in any case.
  const isInsecure = issuer.protocol === 'http:';
  return oidc.discovery(issuer, clientId, undefined, clientAuthentication(clientSecret), {
    timeout: timeoutSeconds,
    execute: [oidc.enableNonRepudiationChecks, ...(isInsecure ? [oidc.allowInsecureRequests] : [])],
  });
}

/** The provider's own first choice of the two ways to send the secret; by default HTTP Basic (OpenID Connect Discovery §3). */
function clientAuthentication(clientSecret: string): oidc.ClientAuth {
  return (server, client, body, headers) => {
    const offered = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const method = offered.find((one) => one === 'client_secret_basic' || one === 'client_secret_post');
    const send =
      method === 'client_secret_post' ? oidc.ClientSecretPost(clientSecret) : oidc.ClientSecretBasic(clientSecret);
    send(server, client, body, headers);
  };
}
