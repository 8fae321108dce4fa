import { randomUUID } from 'node:crypto';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { noNotice } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { newMember } from '@tocsin/shared/testing/builders.ts';
import type { Arranger } from './arranger.ts';
import { createAccount, openStackDocuments, type Account } from './stack.ts';

/** Arranges through the store of the stack that the tests started. */
export async function arrangeByStore(): Promise<Arranger> {
  const store: OperatorStore = await openStackDocuments();
  const { documents } = store;
  return {
    async account({ tier, tierExpiresAt }) {
      const account = await createAccount(store, tier === undefined ? {} : { tier });
      if (tierExpiresAt !== undefined) {
        const user = (await documents.get(users, account.user.id))!;
        await documents.update(users, user, { tierExpiresAt });
      }
      return account;
    },
    async team(owner, members) {
      const id = await insertTeam(documents, owner, { isActive: true });
      for (const [account, role] of members) await insertMember(documents, id, account, role);
      return id;
    },
    join: (teamId, _owner, [account, role]) => insertMember(documents, teamId, account, role),
    async changeEmail({ user: { id } }, email) {
      await documents.update(users, (await documents.get(users, id))!, { email });
    },
    close: () => store.close(),
  };
}

/** Stores a team with its owner and resolves with its ID. Only the store can make an inactive team without waiting. */
export async function insertTeam(
  documents: Documents,
  owner: Account,
  { isActive }: { isActive: boolean },
): Promise<string> {
  const id = randomUUID();
  const now = Date.now();
  await documents.insert(teams, {
    id,
    name: id,
    displayName: 'A team',
    description: '',
    ownerId: owner.user.id,
    isActive,
    createdAt: now,
    updatedAt: now,
    deactivatedAt: isActive ? null : now,
    ...noNotice,
    removal: null,
  });
  await insertMember(documents, id, owner, 'owner');
  return id;
}

/** Stores a membership. */
export async function insertMember(documents: Documents, teamId: string, { user }: Account, role: Role): Promise<void> {
  // IDs grow within one millisecond, so that members are listed in the order in which they joined.
  await documents.insert(teamMembers, newMember(teamId, user.id, role));
}
