import type { ApiKey } from '../../api/wire.ts';

type Scope = ApiKey['scopes'][number];

/** What each scope permits. `*` includes all others. */
export const scopeTexts: Readonly<Record<Exclude<Scope, '*'>, string>> = {
  publish: 'Publish messages',
  subscribe: 'Read, search and stream messages',
  'topics:read': 'List topics and their tokens',
  'topics:write': 'Create, change and delete topics, their tokens and messages',
  'account:read': 'Read the account, its teams, devices and subscriptions',
  'account:write': 'Change the account, its teams, devices and subscriptions',
  'keys:read': 'List API keys',
  'keys:write': 'Create, revoke and delete API keys',
};

export const scopesText = ({ scopes }: Pick<ApiKey, 'scopes'>): string =>
  scopes.includes('*') ? 'everything' : scopes.join(', ');
