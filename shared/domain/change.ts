/** Names changed entities, so that every node invalidates its caches. */
export type Change =
  | { readonly kind: 'topic'; readonly topic: TopicIdentity }
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'api-key'; readonly secretHash: string }
  | { readonly kind: 'topic-token'; readonly secretHash: string }
  | { readonly kind: 'team'; readonly teamId: string }
  | { readonly kind: 'member'; readonly teamId: string; readonly userId: string };

/** The topic fields that caches use as keys. */
interface TopicIdentity {
  readonly id: string;
  readonly nameKey: string;
  readonly ownerId: string;
}

/** The channel of changes; a payload is a `Change` as JSON. */
export const changesChannel = 'changes';

/** Notifies of a created, changed or removed topic. After a rename, once for each name. */
export function topicChange({ id, nameKey, ownerId }: TopicIdentity): Change {
  return { kind: 'topic', topic: { id, nameKey, ownerId } };
}
