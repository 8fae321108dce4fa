import type { PubSub } from '@tocsin/shared/ports/bus/pub-sub.ts';
import { changesChannel, type Change } from '@tocsin/shared/domain/change.ts';
import type { ApiKey, LoginSession, TopicToken } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { Role, Team } from '@tocsin/shared/domain/teams/team.ts';
import { topicNameKey, type Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Collection, Document, Documents } from '@tocsin/shared/ports/documents.ts';
import { findApiKeyBySecret, findTopicTokenBySecret, loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { findTeamRole, teams } from '@tocsin/shared/collections/teams.ts';
import { findPrivateTopicIds, findTopicByName, topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { CachedLookup, StoreWatch } from './cached-lookup.ts';
import { subscribeLater } from './subscribe-later.ts';

export type { Change };

/** Values younger than this are not loaded again in a batch check. */
const refreshedAfterMs = 1_000;

/** Lookup of a collection's documents by ID. */
function byId<T extends Document>(documents: Documents, collection: Collection<T>) {
  return {
    load: (id: string) => documents.get(collection, id),
    loadMany: async (ids: readonly string[]) =>
      new Map((await documents.getMany(collection, ids)).map((found) => [found.id, found])),
  };
}

/**
 * A cache of accounts, topics and credentials for hot paths: at most 1.8 s old, or 10 minutes while the document store is
 * down. Code that changes one of them calls `changed`, which invalidates it on all nodes.
 */
export class Directory {
  readonly #bus: PubSub;
  readonly #log: Logger;
  readonly #topicsByName: CachedLookup<Topic>;
  readonly #topicsById: CachedLookup<Topic>;
  readonly #users: CachedLookup<User>;
  readonly #sessions: CachedLookup<LoginSession>;
  readonly #apiKeys: CachedLookup<ApiKey>;
  readonly #topicTokens: CachedLookup<TopicToken>;
  readonly #teams: CachedLookup<Team>;
  readonly #roles: CachedLookup<Role>;
  readonly #privateTopics: CachedLookup<readonly string[]>;
  readonly #listeners = new Set<(change: Change) => void>();

  constructor(options: { documents: Documents; bus: PubSub; log: Logger }) {
    const { documents } = options;
    // Ages use a monotonic clock: setting the clock back must not extend them.
    const clock: Clock = () => performance.now();
    this.#bus = options.bus;
    this.#log = options.log;
    const watch = new StoreWatch();
    this.#topicsByName = new CachedLookup({ clock, watch, load: (name) => findTopicByName(documents, name) });
    this.#topicsById = new CachedLookup({ clock, watch, ...byId(documents, topics) });
    this.#users = new CachedLookup({ clock, watch, ...byId(documents, users) });
    this.#sessions = new CachedLookup({ clock, watch, ...byId(documents, loginSessions) });
    this.#apiKeys = new CachedLookup({ clock, watch, load: (hash) => findApiKeyBySecret(documents, hash) });
    this.#topicTokens = new CachedLookup({ clock, watch, load: (hash) => findTopicTokenBySecret(documents, hash) });
    this.#teams = new CachedLookup({ clock, watch, load: (id) => documents.get(teams, id) });
    this.#privateTopics = new CachedLookup({
      clock,
      watch,
      load: (ownerId) => findPrivateTopicIds(documents, ownerId),
    });
    this.#roles = new CachedLookup({
      clock,
      watch,
      load: (key) => {
        const [teamId, userId] = key.split(':') as [string, string];
        return findTeamRole(documents, teamId, userId);
      },
    });
  }

  /** Starts listening for changes on other nodes. Resolves with a function that stops it. */
  async start(): Promise<() => Promise<void>> {
    const subscribed = await subscribeLater(this.#bus, changesChannel, (payload) =>
      this.#forget(JSON.parse(payload) as Change),
    );
    return () => subscribed.close();
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

  /** Refreshes topics, accounts and logins with one query per kind, before many are checked. */
  async refresh(ids: { topics: Iterable<string>; users: Iterable<string>; sessions: Iterable<string> }): Promise<void> {
    await Promise.all([
      this.#topicsById.refresh(ids.topics, refreshedAfterMs),
      this.#users.refresh(ids.users, refreshedAfterMs),
      this.#sessions.refresh(ids.sessions, refreshedAfterMs),
    ]);
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

  /** Returns the IDs of the owner's oldest private topics outside of teams, oldest first, up to the limit of the highest tier. */
  async privateTopics(ownerId: string): Promise<readonly string[]> {
    return (await this.#privateTopics.get(ownerId)) ?? [];
  }

  /** Returns the user's role in the team; null without role or team. */
  role(teamId: string | null, userId: string): Promise<Role | null> {
    return teamId === null ? Promise.resolve(null) : this.#roles.get(`${teamId}:${userId}`);
  }

  /**
   * Reports a change: invalidates it here immediately, on other nodes by publish/subscribe, and
   * within 1.8 s if that fails.
   */
  async changed(...changes: readonly Change[]): Promise<void> {
    for (const change of changes) this.#forget(change);
    try {
      await this.#bus.publish(
        changesChannel,
        changes.map((change) => JSON.stringify(change)),
      );
    } catch (error) {
      this.#log.warn({ err: error }, 'publish/subscribe unavailable, other nodes notice the change when caches expire');
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
        this.#roles.forget(`${change.teamId}:${change.userId}`);
        break;
    }
    for (const listener of this.#listeners) listener(change);
  }
}
