import { scopes, type Scope } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { Route } from '../route.ts';
import type { JsonObject } from './json-schemas.ts';

const oneOfScopes = `Scopes: ${scopes.map((scope) => `\`${scope}\``).join(', ')}.`;

/** Every kind of credential in every supported place. */
export const securitySchemes: Readonly<Record<string, JsonObject>> = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The access token of a login, valid for 24 hours. API keys (`toc_…`) and topic tokens (`tk_…`) may be sent in the same way.',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'Any credential as the password; the username is ignored.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: `An API key: acts as the account within the key's scopes. ${oneOfScopes}`,
  },
  apiKeyInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'An API key, for clients that cannot set headers.',
  },
  authInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'auth',
    description: 'A whole `Authorization` value in base64url without padding, for clients that cannot set headers.',
  },
  topicToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Topic-Token',
    description: 'A topic access token: one topic, to read, write or both.',
  },
  tokenInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'On streams: an access token, an API key or a topic access token.',
  },
  adminToken: { type: 'http', scheme: 'bearer', description: "The operator's `ADMIN_TOKEN`." },
};

type Requirement = Record<string, string[]>;

/**
 * The credentials of which each suffices for the route, with the required scope of an API key or permission of a
 * topic token. `{}` means no credential.
 */
export function securityOf(route: Route): Requirement[] {
  switch (route.audience) {
    case 'uncounted':
    case 'unread':
      return [];
    case 'operator':
      return [{ adminToken: [] }];
    case 'login':
      return [{ accessToken: [] }, { basic: [] }, { authInQuery: [] }];
    case 'account':
      return accountRequirements(route.scope);
    case 'anyone':
      return [{}, ...accountRequirements(route.scope), ...topicTokenRequirements(route)];
  }
}

function accountRequirements(scope: Scope | undefined): Requirement[] {
  const granted = scope === undefined ? [] : [scope];
  return [
    { accessToken: [] },
    { basic: granted },
    { apiKey: granted },
    { apiKeyInQuery: granted },
    { authInQuery: granted },
  ];
}

function topicTokenRequirements({ isTopicRoute, isStream, scope }: Route): Requirement[] {
  if (isTopicRoute !== true && isStream !== true) return [];
  const permission = scope === 'publish' ? 'write' : 'read';
  return [{ topicToken: [permission] }, ...(isStream === true ? [{ tokenInQuery: [permission] }] : [])];
}
