import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider, { type Adapter, type AdapterPayload, type KoaContextWithOIDC } from 'oidc-provider';

/** The people who can log in at the provider: claims by subject. */
export type Person = Readonly<Record<string, unknown>>;

export interface OpenIdProvider {
  /** For GOOGLE_ISSUER. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly people: Map<string, Person>;
  /** Whether the ID token contains the address, as with Google, or only the UserInfo endpoint. Default: true. */
  setClaimsInIdToken(isWanted: boolean): void;
  /** Sets the only redirect URI of the client. Call it before the first login. */
  register(redirectUri: string): void;
  /** Signs in as this person without a choice; null, the default, denies a login without `?person=`. */
  setPerson(subject: string | null): void;
  /** Returns only 503 while true. */
  setAway(isAway: boolean): void;
  close(): Promise<void>;
}

const lifetimeSeconds = 600;

/** `azp` only if a person has it: the provider itself leaves it out for a single audience. */
const claims = { openid: ['sub', 'azp'], email: ['email', 'email_verified'], profile: ['name', 'picture'] };

/**
 * A real OpenID provider (`oidc-provider`) on a free local port, without a login page: a POST to the
 * redirect target of the browser selects the person (`?person=<subject>`) or denies the login (`?deny`).
 */
export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const client = { client_id: 'tocsin', client_secret: 'the-secret-of-the-tests' };
  const people = new Map<string, Person>();
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256' };
  let redirectUri = '';
  let isInIdToken = true;
  let isAway = false;
  let chosen: string | null = null;
  let answer: RequestListener | undefined;
  const server = createServer((request, response) => {
    if (isAway) response.writeHead(503).end();
    else
      (answer ??= answering(providerAt(issuer, { client, key, people, redirectUri, isInIdToken }), () => chosen))(
        request,
        response,
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    people,
    clientId: client.client_id,
    clientSecret: client.client_secret,
    setClaimsInIdToken(isWanted) {
      isInIdToken = isWanted;
      answer = undefined;
    },
    register(uri) {
      redirectUri = uri;
      answer = undefined;
    },
    setPerson(subject) {
      chosen = subject;
    },
    setAway(isWanted) {
      isAway = isWanted;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface ProviderOptions {
  readonly client: { readonly client_id: string; readonly client_secret: string };
  readonly key: JWK;
  readonly people: ReadonlyMap<string, Person>;
  readonly redirectUri: string;
  readonly isInIdToken: boolean;
}

function providerAt(issuer: string, { client, key, people, redirectUri, isInIdToken }: ProviderOptions): Provider {
  return new Provider(issuer, {
    adapter: memoryAdapters(),
    jwks: { keys: [key] },
    ttl: {
      AccessToken: lifetimeSeconds,
      AuthorizationCode: 60,
      Grant: lifetimeSeconds,
      IdToken: lifetimeSeconds,
      Interaction: lifetimeSeconds,
      Session: lifetimeSeconds,
    },
    clients: [{ ...client, redirect_uris: [redirectUri] }],
    claims,
    conformIdTokenClaims: !isInIdToken,
    cookies: { keys: ['a key of the tests'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, subject) =>
      people.has(subject)
        ? { accountId: subject, claims: () => ({ sub: subject, ...people.get(subject) }) }
        : undefined,
    loadExistingGrant: agree,
  });
}

/** The provider's storage, by kind and ID: its built-in memory store logs a warning at every start. */
function memoryAdapters(): (kind: string) => Adapter {
  const kept = new Map<string, AdapterPayload>();
  return (kind) => {
    const find = (isIt: (payload: AdapterPayload) => boolean) =>
      [...kept].find(([key, payload]) => key.startsWith(`${kind} `) && isIt(payload))?.[1];
    return {
      upsert: async (id, payload) => void kept.set(`${kind} ${id}`, payload),
      find: async (id) => kept.get(`${kind} ${id}`),
      findByUid: async (uid) => find((payload) => payload.uid === uid),
      findByUserCode: async (userCode) => find((payload) => payload.userCode === userCode),
      consume: async (id) =>
        void Object.assign(kept.get(`${kind} ${id}`) ?? {}, { consumed: Math.floor(Date.now() / 1_000) }),
      destroy: async (id) => void kept.delete(`${kind} ${id}`),
      revokeByGrantId: async (grantId) => {
        for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key);
      },
    };
  };
}

/** Skips the consent page. */
async function agree(context: KoaContextWithOIDC) {
  const { provider, client, session } = context.oidc;
  const grant = new provider.Grant({ clientId: client!.clientId, accountId: session!.accountId! });
  grant.addOIDCScope(Object.keys(claims).join(' '));
  await grant.save();
  return grant;
}

function answering(provider: Provider, chosen: () => string | null): RequestListener {
  const callback = provider.callback();
  return (request, response) => {
    if (request.url!.startsWith('/interaction/')) void signIn(provider, chosen(), { request, response });
    else void callback(request, response);
  };
}

async function signIn(
  provider: Provider,
  chosen: string | null,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const { searchParams } = new URL(request.url!, 'http://provider');
  const person = searchParams.has('deny') ? null : (searchParams.get('person') ?? chosen);
  const result =
    person === null
      ? { error: 'access_denied', error_description: 'the person denied the login' }
      : { login: { accountId: person, remember: false } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}
