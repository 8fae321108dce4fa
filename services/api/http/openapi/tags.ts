import type { Route } from '../route.ts';

/** The tags of the document in order; a route gets the first that matches. */
const chapters: readonly { readonly name: string; readonly description: string; readonly has: RegExp }[] = [
  {
    name: 'Publishing',
    description: 'Publish messages to a topic.',
    has: /^(POST|PUT) \/(\{topic\}(\/\{sequence_id\})?)?$/,
  },
  {
    name: 'Real time',
    description: 'Live messages over Server-Sent Events and WebSocket.',
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
    has: / \/\{topic\}\/(json|\{sequence_id\})$| \/api\/topics\/\{name\}\/(log|messages|consumers)| \/api\/messages\/| \/api\/\{topic_name\}\/| \/ack\//,
  },
  {
    name: 'Topics',
    description: 'Named channels for messages: public or private, of an account or a team.',
    has: / \/api\/topics/,
  },
  { name: 'Account', description: "Registration, logins and the caller's account.", has: / \/auth\/| \/api\/users\// },
  { name: 'API keys', description: 'Credentials for the whole account, limited by scopes.', has: / \/api\/keys/ },
  { name: 'Teams', description: 'Members, roles and invitations.', has: / \/api\/teams/ },
  { name: 'Devices', description: 'Phones that get pushes.', has: / \/api\/devices/ },
  {
    name: 'Subscriptions',
    description: 'Topics that a user follows, with push settings.',
    has: / \/api\/subscriptions/,
  },
  {
    name: 'Operation',
    description: 'Health, metrics and this document.',
    has: / \/(health\/|metrics$|v1\/|openapi\.json$)/,
  },
  { name: 'Operator', description: 'Operations for the holder of `ADMIN_TOKEN`.', has: / \/admin\// },
];

/** Returns the route's tag. Throws if none matches. */
export function tagOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const chapter = chapters.find(({ has }) => has.test(`${method} ${path}`));
  if (chapter === undefined) throw new Error(`${method} ${path} has no tag: add one in openapi/tags.ts`);
  return chapter.name;
}

/** The tags that the routes use. */
export function tagsOf(table: readonly Route[]): { name: string; description: string }[] {
  const used = new Set(table.map(tagOf));
  return chapters.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description }));
}
