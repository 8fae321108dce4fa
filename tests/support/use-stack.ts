import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import { noNotice } from '@tocsin/shared/domain/teams/team-life.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import type { Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';
import { Client, createAccount, openStackDocuments, type Account, type Answer } from './stack.ts';

/** Requests by one credential, as short as a test reads them. */
export interface Caller {
  send(method: string, path: string): Promise<Answer>;
  get(path: string): Promise<Answer>;
  head(path: string): Promise<Answer>;
  post(path: string, json?: unknown): Promise<Answer>;
  put(path: string, json?: unknown): Promise<Answer>;
  patch(path: string, json?: unknown): Promise<Answer>;
  delete(path: string, json?: unknown): Promise<Answer>;
  /** Publishes a text. */
  publish(topic: string, text?: string): Promise<Answer>;
}

export interface Person extends Caller, Account {
  readonly id: string;
}

/** Arranges what a test needs on the stack that all acceptance files share. */
export interface StackUse {
  person(options?: { tier?: Tier; tierExpiresAt?: number }): Promise<Person>;
  /** Whoever sends these headers; nobody without any. */
  caller(headers?: Record<string, string>): Caller;
  team(
    owner: Person,
    members?: readonly (readonly [Person, Role])[],
    options?: { isActive?: boolean },
  ): Promise<string>;
  /** Puts the person into the team without an invite. */
  join(teamId: string, person: Person, role: Role): Promise<void>;
  /** Gives the person's account another verified address. */
  readdress(person: Person, email: string): Promise<void>;
  documents(): Documents;
}

function callerOf(client: Client, headers: Record<string, string> = {}): Caller {
  const send = (method: string) => (path: string, json?: unknown) =>
    client.call(method, path, json === undefined ? { headers } : { json, headers });
  return {
    send: (method, path) => send(method)(path),
    get: send('GET'),
    head: send('HEAD'),
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
    delete: send('DELETE'),
    publish: (topic, text = 'hello') => client.call('POST', `/${topic}`, { text, headers }),
  };
}

/** Opens the stack's documents for the tests of a file. */
export function useStack(): StackUse {
  let store: OperatorStore;
  beforeAll(async () => {
    store = await openStackDocuments();
  });
  afterAll(() => store.close());
  const join = async (teamId: string, { id: userId }: Person, role: Role) => {
    // By ids that grow those of one millisecond are listed in the order in which they joined, as they are elsewhere.
    await store.documents.insert(teamMembers, { id: newId(), teamId, userId, role, joinedAt: Date.now() });
  };
  return {
    async person({ tier, tierExpiresAt } = {}) {
      const account = await createAccount(store, tier === undefined ? {} : { tier });
      if (tierExpiresAt !== undefined) {
        const user = (await store.documents.get(users, account.user.id))!;
        await store.documents.update(users, user, { tierExpiresAt });
      }
      return { ...account, id: account.user.id, ...callerOf(account.client) };
    },
    caller: (headers) => callerOf(new Client(), headers),
    async team(owner, members = [], options = {}) {
      const id = randomUUID();
      const now = Date.now();
      await store.documents.insert(teams, {
        id,
        name: id,
        displayName: 'A team',
        description: '',
        ownerId: owner.id,
        isActive: options.isActive ?? true,
        createdAt: now,
        updatedAt: now,
        deactivatedAt: options.isActive === false ? now : null,
        ...noNotice,
        removal: null,
      });
      for (const [person, role] of [[owner, 'owner'] as const, ...members]) await join(id, person, role);
      return id;
    },
    join,
    async readdress({ id }, email) {
      await store.documents.update(users, (await store.documents.get(users, id))!, { email });
    },
    documents: () => store.documents,
  };
}
