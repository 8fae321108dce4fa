import type { PubSub } from '@tocsin/shared/ports/bus/pub-sub.ts';
import { changesChannel, type Change } from '@tocsin/shared/domain/change.ts';
import type { ApiKey, LoginSession, TopicToken } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { Role, Team, TeamMember } from '@tocsin/shared/domain/teams/team.ts';
import { topicNameKey, type Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Collection, Document, Documents } from '@tocsin/shared/ports/documents.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import {
  apiKeys,
  findApiKeyBySecret,
  findTopicTokenBySecret,
  loginSessions,
  topicTokens,
} from '@tocsin/shared/collections/credentials.ts';
import { findMember, teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { findPrivateTopicIds, findTopicByName, topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { publishChanges } from '@tocsin/shared/operations/publish-changes.ts';
import { CachedLookup, StoreWatch, type Lookup } from './cached-lookup.ts';
import { ChangeWatch, type ValueTimes } from './change-watch.ts';
import { subscribeLater } from '@tocsin/shared/async/subscribe-later.ts';

export type { Change };

/** IDs of topics, accounts and logins, and hashes of credentials. */
export type DirectoryKeys<Keys> = Readonly<Record<'topics' | 'users' | 'sessions' | 'apiKeys' | 'topicTokens', Keys>>;

const memberKey = (teamId: string, userId: string) => `${teamId}:${userId}`;

/** Values younger than this are not loaded again in a batch check. */
const refreshedAfterMs = 1_000;

/** Lookup of a collection's documents by ID. */
function byId<T extends Document>(documents: Documents, collection: Collection<T>) {
  return {
    load: (id: string) => documents.get(collection, id),
    loadMany: async (ids: readonly string[]) =>
      new Map((await documents.getMany(collection, ids)).map((found) => [found.id, found])),
    findsUnknown: true,
  };
}

/** Lookup of a collection's documents by a key other than the ID. Known documents are loaded together by ID. */
function byKey<T extends Document>(
  documents: Documents,
  collection: Collection<T>,
  { keyOf, load }: { keyOf: (document: T) => string; load: (key: string) => Promise<T | null> },
) {
  return {
    load,
    loadMany: async (keys: readonly string[], known: (key: string) => T | undefined) => {
      const ids = keys.flatMap((key) => known(key)?.id ?? []);
      return new Map((await documents.getMany(collection, ids)).map((found) => [keyOf(found), found]));
    },
  };
}

/**
 * A cache of accounts, topics and credentials for hot paths. Its values were current at most 1.8 s ago, or 10 minutes
 * while the document store is down. Code that changes one of them calls `changed`, which invalidates it on all nodes.
 * If that notification is lost, the change watch or the age of a value makes a node read it again.
 */
export class Directory {
  readonly #bus: PubSub;
  readonly #changes: ChangeWatch;
  readonly #log: Logger;
  readonly #topicsByName: CachedLookup<Topic>;
  readonly #topicsById: CachedLookup<Topic>;
  readonly #users: CachedLookup<User>;
  readonly #sessions: CachedLookup<LoginSession>;
  readonly #apiKeys: CachedLookup<ApiKey>;
  readonly #topicTokens: CachedLookup<TopicToken>;
  readonly #teams: CachedLookup<Team>;
  readonly #members: CachedLookup<TeamMember>;
  readonly #privateTopics: CachedLookup<readonly string[]>;
  readonly #listeners = new Set<(change: Change) => void>();

  constructor(options: Pick<Engine, 'documents' | 'storage'> & { bus: PubSub; log: Logger; clock?: Clock }) {
    const { documents, storage, log } = options;
    // Ages use a monotonic clock: setting the clock back must not extend them.
    const { clock = () => performance.now() } = options;
    this.#bus = options.bus;
    this.#log = log;
    const watch = new StoreWatch();
    const caches: { readonly size: number }[] = [];
    const countValues = () => caches.reduce((sum, { size }) => sum + size, 0);
    const changes = new ChangeWatch({ storage, log, clock, countValues });
    this.#changes = changes;
    const isCurrent = (document: Document, times: ValueTimes) => changes.isCurrent(document.id, times);
    const cached = <T extends Document>(lookup: Lookup<T>) => {
      const cache = new CachedLookup<T>({ clock, watch, isCurrent, ...lookup });
      caches.push(cache);
      return cache;
    };
    this.#topicsByName = cached(
      byKey(documents, topics, {
        keyOf: ({ nameKey }) => nameKey,
        load: (nameKey) => findTopicByName(documents, nameKey),
      }),
    );
    this.#topicsById = cached(byId(documents, topics));
    this.#users = cached(byId(documents, users));
    this.#sessions = cached(byId(documents, loginSessions));
    this.#apiKeys = cached(
      byKey(documents, apiKeys, {
        keyOf: ({ secretHash }) => secretHash,
        load: (hash) => findApiKeyBySecret(documents, hash),
      }),
    );
    this.#topicTokens = cached(
      byKey(documents, topicTokens, {
        keyOf: ({ secretHash }) => secretHash,
        load: (hash) => findTopicTokenBySecret(documents, hash),
      }),
    );
    this.#teams = cached(byId(documents, teams));
    this.#privateTopics = new CachedLookup<readonly string[]>({
      clock,
      watch,
      load: (ownerId) => findPrivateTopicIds(documents, ownerId),
    });
    this.#members = cached(
      byKey(documents, teamMembers, {
        keyOf: ({ teamId, userId }) => memberKey(teamId, userId),
        load: (key) => {
          const [teamId, userId] = key.split(':') as [string, string];
          return findMember(documents, teamId, userId);
        },
      }),
    );
  }

  /** Starts listening for changes on other nodes. Resolves with a function that stops it. */
  async start(): Promise<() => Promise<void>> {
    this.#changes.start();
    const subscribed = await subscribeLater(this.#bus, changesChannel, (payload) =>
      this.#forget(JSON.parse(payload) as Change),
    );
    return () => {
      this.#changes.close();
      return subscribed.close();
    };
  }

  /** Returns the topic with the name, case-insensitive, or null. */
  topicByName(name: string): Promise<Topic | null> {
    return this.#topicsByName.get(topicNameKey(name));
  }

  topic(id: string): Promise<Topic | null> {
    return this.#topicsById.get(id);
  }

  /** Returns the topic while its cached value is fresh; undefined means to call `topic`. */
  peekTopic(id: string): Topic | undefined {
    return this.#topicsById.peek(id);
  }

  /** Refreshes the values with one query per kind and 1,000 keys, before many are checked. */
  async refresh(keys: Partial<DirectoryKeys<Iterable<string>>>): Promise<void> {
    await Promise.all([
      this.#topicsById.refresh(keys.topics ?? [], refreshedAfterMs),
      this.#users.refresh(keys.users ?? [], refreshedAfterMs),
      this.#sessions.refresh(keys.sessions ?? [], refreshedAfterMs),
      this.#apiKeys.refresh(keys.apiKeys ?? [], refreshedAfterMs),
      this.#topicTokens.refresh(keys.topicTokens ?? [], refreshedAfterMs),
    ]);
  }

  /** Makes room in the cache for the values that all open streams need. */
  makeRoom(keys: DirectoryKeys<{ readonly size: number }>): void {
    this.#topicsById.makeRoom(keys.topics.size);
    this.#users.makeRoom(keys.users.size);
    this.#sessions.makeRoom(keys.sessions.size);
    this.#apiKeys.makeRoom(keys.apiKeys.size);
    this.#topicTokens.makeRoom(keys.topicTokens.size);
  }

  user(id: string): Promise<User | null> {
    return this.#users.get(id);
  }

  session(id: string): Promise<LoginSession | null> {
    return this.#sessions.get(id);
  }

  apiKey(secretHash: string): Promise<ApiKey | null> {
    return this.#apiKeys.get(secretHash);
  }

  topicToken(secretHash: string): Promise<TopicToken | null> {
    return this.#topicTokens.get(secretHash);
  }

  team(id: string): Promise<Team | null> {
    return this.#teams.get(id);
  }

  /**
   * Returns the IDs of the owner's oldest private topics outside of teams, oldest first, up to the limit of the highest
   * tier.
   */
  async privateTopics(ownerId: string): Promise<readonly string[]> {
    return (await this.#privateTopics.get(ownerId)) ?? [];
  }

  /** Returns the user's role in the team; null without role or team. */
  async role(teamId: string | null, userId: string): Promise<Role | null> {
    if (teamId === null) return null;
    return (await this.#members.get(memberKey(teamId, userId)))?.role ?? null;
  }

  /**
   * Reports a change: invalidates it here immediately, on other nodes by publish/subscribe, and
   * within two seconds if that fails.
   */
  async changed(...changes: readonly Change[]): Promise<void> {
    for (const change of changes) this.#forget(change);
    try {
      await publishChanges(this.#bus, changes);
    } catch (error) {
      this.#log.warn({ err: error }, 'publish/subscribe unavailable, other nodes notice the change within two seconds');
    }
  }

  /** Calls the listener for every local or remote change; open streams use it to check their access. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #forget(change: Change): void {
    switch (change.kind) {
      case 'topic':
        this.#topicsByName.forget(change.topic.nameKey);
        this.#topicsById.forget(change.topic.id);
        this.#privateTopics.forget(change.topic.ownerId);
        break;
      case 'user':
        this.#users.forget(change.userId);
        break;
      case 'session':
        this.#sessions.forget(change.sessionId);
        break;
      case 'api-key':
        this.#apiKeys.forget(change.secretHash);
        break;
      case 'topic-token':
        this.#topicTokens.forget(change.secretHash);
        break;
      case 'team':
        this.#teams.forget(change.teamId);
        break;
      case 'member':
        this.#members.forget(memberKey(change.teamId, change.userId));
        break;
    }
    for (const listener of this.#listeners) listener(change);
  }
}
