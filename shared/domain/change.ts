/** What changed, so that every node forgets what it knew of it. */
export type Change =
  | { readonly kind: 'topic'; readonly topic: TopicIdentity }
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'api-key'; readonly secretHash: string }
  | { readonly kind: 'topic-token'; readonly secretHash: string }
  | { readonly kind: 'team'; readonly teamId: string }
  | { readonly kind: 'member'; readonly teamId: string; readonly userId: string };

/** The fields of a topic that caches look it up by. */
interface TopicIdentity {
  readonly id: string;
  readonly nameKey: string;
  readonly ownerId: string;
}

/** The bus channel of changes; a payload is a `Change` as JSON. */
export const changesChannel = 'changes';

/** Says that a topic was made, changed or removed; after a change of its name once for each of the two. */
export function topicChange({ id, nameKey, ownerId }: TopicIdentity): Change {
  return { kind: 'topic', topic: { id, nameKey, ownerId } };
}
