import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type * as oidc from 'openid-client';

/** A slower provider counts as unavailable, because a person is waiting. */
const timeoutSeconds = 10;

/** How long the provider's metadata is cached. The library manages its keys. */
const metadataLifetimeMs = 3_600_000;

/** The provider's published configuration; rejects like openid-client if it is unavailable. */
export type GoogleProvider = () => Promise<oidc.Configuration>;

/** Google, or the OpenID provider that GOOGLE_ISSUER names; null if not configured. Fetched at the first sign-in. */
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
    // Failures are not cached: the next sign-in retries.
    asked.discovered.catch(() => {
      if (known === asked) known = undefined;
    });
    return asked.discovered;
  };
}

/** Loads its library, which most processes do not need. */
async function discover(issuer: URL, clientId: string, clientSecret: string): Promise<oidc.Configuration> {
  const library = await import('openid-client');
  // An http: issuer is a provider on the operator's network. The ID token's signature is always checked.
  const isInsecure = issuer.protocol === 'http:';
  return library.discovery(issuer, clientId, undefined, clientAuthentication(library, clientSecret), {
    timeout: timeoutSeconds,
    execute: [library.enableNonRepudiationChecks, ...(isInsecure ? [library.allowInsecureRequests] : [])],
  });
}

/** The provider's preferred way to send the secret; HTTP Basic by default (OpenID Connect Discovery §3). */
function clientAuthentication(library: typeof oidc, clientSecret: string): oidc.ClientAuth {
  return (server, client, body, headers) => {
    const offered = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const method = offered.find((one) => one === 'client_secret_basic' || one === 'client_secret_post');
    const send =
      method === 'client_secret_post'
        ? library.ClientSecretPost(clientSecret)
        : library.ClientSecretBasic(clientSecret);
    send(server, client, body, headers);
  };
}
