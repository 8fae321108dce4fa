import type { ApiKey } from '../../api/wire.ts';
import { publishSnippets, readSnippets, type Snippets } from '../../parts/snippets.ts';
import { inbox } from '../../state/inbox.ts';

/** Stands for a topic if the account owns none. */
export const topicPlaceholder = 'YOUR_TOPIC';

/** A harmless request for each scope that permits one. */
const reads: readonly (readonly [scope: ApiKey['scopes'][number], path: string])[] = [
  ['subscribe', '/api/messages/recent'],
  ['topics:read', '/api/topics/my'],
  ['account:read', '/api/users/me'],
  ['keys:read', '/api/keys'],
];

/** Lines that work with the scopes of the key. Empty if its scopes only permit changes other than publishing. */
export function keySnippets({ key: secret, scopes }: Pick<ApiKey, 'scopes'> & { readonly key: string }): Snippets {
  const credential = { header: 'X-API-Key', secret } as const;
  if (scopes.includes('*') || scopes.includes('publish')) {
    // A key does not open private topics of teams.
    const topic = inbox.value?.topics.find(({ team_id }) => team_id === null)?.name ?? topicPlaceholder;
    return publishSnippets(`${location.origin}/${topic}`, credential);
  }
  const path = reads.find(([scope]) => scopes.includes(scope))?.[1];
  return path === undefined ? [] : readSnippets(location.origin + path, credential);
}
