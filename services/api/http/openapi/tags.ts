import type { Route } from '../route.ts';

/** The chapters of the document, in its order; a route is in the first that has it. */
const chapters: readonly { readonly name: string; readonly description: string; readonly has: RegExp }[] = [
  { name: 'Publishing', description: 'Text to a topic.', has: /^(POST|PUT) \/(\{topic\})?$/ },
  {
    name: 'Real time',
    description: 'Messages as they come, over Server-Sent Events and WebSocket.',
    has: /^\w+ \/(\{topic\}\/)?(sse|ws)$|^\w+ \/api\/sse\//,
  },
  {
    name: 'Topic tokens',
    description: 'Credentials for one topic, to read, write or both.',
    has: / \/api\/topics\/\{topic\}\/access-tokens/,
  },
  {
    name: 'Messages',
    description: 'History, replay, search, edits.',
    has: / \/\{topic\}\/json$| \/api\/topics\/\{name\}\/(log|messages|consumers)| \/api\/messages\/| \/api\/\{topic_name\}\//,
  },
  {
    name: 'Topics',
    description: 'What messages are published to: public or private, of an account or a team.',
    has: / \/api\/topics/,
  },
  { name: 'Account', description: 'Registration, logins, the calling account.', has: / \/auth\/| \/api\/users\// },
  { name: 'API keys', description: 'Credentials for the whole account, limited by scopes.', has: / \/api\/keys/ },
  { name: 'Teams', description: 'Members, roles and invitations.', has: / \/api\/teams/ },
  { name: 'Devices', description: 'Phones that get pushes.', has: / \/api\/devices/ },
  {
    name: 'Subscriptions',
    description: 'Topics that a user follows, and what of them is pushed.',
    has: / \/api\/subscriptions/,
  },
  {
    name: 'Operation',
    description: 'Health, figures, this document.',
    has: / \/(health\/|metrics$|v1\/|openapi\.json$)/,
  },
  { name: 'Operator', description: 'What only the bearer of `ADMIN_TOKEN` may do.', has: / \/admin\// },
];

/** The name of the route's chapter. Throws for a route that has none. */
export function tagOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const chapter = chapters.find(({ has }) => has.test(`${method} ${path}`));
  if (chapter === undefined) throw new Error(`${method} ${path} is in no chapter of the document: see openapi/tags.ts`);
  return chapter.name;
}

/** The chapters that the routes use. */
export function tagsOf(table: readonly Route[]): { name: string; description: string }[] {
  const used = new Set(table.map(tagOf));
  return chapters.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description }));
}
