export const actorKinds = ['account', 'api_key', 'topic_token', 'anonymous', 'system'] as const;

/** Who published or acknowledged a message, as it was called then. `system` is Tocsin itself. */
export interface Actor {
  readonly kind: (typeof actorKinds)[number];
  /** The username, or the name of the API key or topic token; null if anonymous or erased. */
  readonly name: string | null;
  /** The account of a login or API key, which the erasure of the account looks for; otherwise null. */
  readonly accountId: string | null;
}

/** Returns the stored form: `kind`, or `kind:account ID:name`. */
export function storedActor({ kind, name, accountId }: Actor): string {
  return name === null ? kind : `${kind}:${accountId ?? ''}:${name}`;
}

/** Parses the stored form; null for an unknown kind. Without `split`, which takes three times as long. */
export function parseActor(stored: string): Actor | null {
  const kindEnd = stored.indexOf(':');
  const kind = kindEnd === -1 ? stored : stored.slice(0, kindEnd);
  if (!isActorKind(kind)) return null;
  const accountEnd = kindEnd === -1 ? -1 : stored.indexOf(':', kindEnd + 1);
  if (accountEnd === -1) return { kind, name: null, accountId: null };
  const accountId = stored.slice(kindEnd + 1, accountEnd);
  return { kind, name: stored.slice(accountEnd + 1), accountId: accountId === '' ? null : accountId };
}

/** Returns the actor after the erasure of its account. */
export const erasedActor = ({ kind }: Actor): Actor => ({ kind, name: null, accountId: null });

/** Returns the stored form without name and account if it is of the account. */
export function forgetActor(stored: string | null, accountId: string): string | null {
  const actor = stored === null ? null : parseActor(stored);
  return actor?.accountId === accountId ? storedActor(erasedActor(actor)) : stored;
}

const isActorKind = (kind: string): kind is Actor['kind'] => (actorKinds as readonly string[]).includes(kind);
