import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { CredentialRef } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { Change, DirectoryKeys } from '../directory/directory.ts';

/** What decides the access of a stream. */
export interface StreamAccess {
  readonly topicIds: readonly string[];
  readonly caller: Caller;
  /** The caller's credential; null if anonymous. */
  readonly credential: CredentialRef | null;
}

type Kind = keyof DirectoryKeys<unknown>;

/** The streams of a node by the directory's values that decide their access: a change finds its streams directly. */
export class StreamIndex<S extends StreamAccess> {
  readonly #byKind: DirectoryKeys<Map<string, Set<S>>> = {
    topics: new Map(),
    users: new Map(),
    sessions: new Map(),
    apiKeys: new Map(),
    topicTokens: new Map(),
  };
  /** A topic token depends on accounts that its stream does not know: its creator and the topic's current owner. */
  readonly #withTopicToken = new Set<S>();

  /** The values on which the streams depend, with their streams. */
  get byKind(): DirectoryKeys<ReadonlyMap<string, ReadonlySet<S>>> {
    return this.#byKind;
  }

  add(stream: S): void {
    for (const [kind, key] of keysOf(stream)) {
      const streams = this.#byKind[kind].get(key);
      if (streams === undefined) this.#byKind[kind].set(key, new Set([stream]));
      else streams.add(stream);
    }
    if (stream.caller.kind === 'topic-token') this.#withTopicToken.add(stream);
  }

  delete(stream: S): void {
    for (const [kind, key] of keysOf(stream)) {
      const streams = this.#byKind[kind].get(key);
      streams?.delete(stream);
      if (streams?.size === 0) this.#byKind[kind].delete(key);
    }
    this.#withTopicToken.delete(stream);
  }

  /** Returns the groups of streams whose access the change may have ended. */
  concernedBy(change: Change): readonly ReadonlySet<S>[] {
    switch (change.kind) {
      case 'topic':
        return [this.#of('topics', change.topic.id)];
      case 'user':
        return [this.#of('users', change.userId), this.#withTopicToken];
      case 'member':
        return [this.#of('users', change.userId)];
      case 'session':
        return [this.#of('sessions', change.sessionId)];
      case 'api-key':
        return [this.#of('apiKeys', change.secretHash)];
      case 'topic-token':
        return [this.#of('topicTokens', change.secretHash)];
      case 'team':
        return []; // a deactivated team can still be read
    }
  }

  #of(kind: Kind, key: string): ReadonlySet<S> {
    return this.#byKind[kind].get(key) ?? new Set();
  }
}

function keysOf({ topicIds, caller, credential }: StreamAccess): [Kind, string][] {
  const keys = topicIds.map((id): [Kind, string] => ['topics', id]);
  if (caller.kind === 'account') keys.push(['users', caller.userId]);
  switch (credential?.kind) {
    case 'login':
      return [...keys, ['sessions', credential.sessionId]];
    case 'api-key':
      return [...keys, ['apiKeys', credential.secretHash]];
    case 'topic-token':
      return [...keys, ['topicTokens', credential.secretHash]];
    default:
      return keys;
  }
}
