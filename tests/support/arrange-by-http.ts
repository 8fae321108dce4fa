import { randomUUID } from 'node:crypto';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Arranger, PersonOptions } from './arranger.ts';
import { mailedLink, mailsTo } from './mailbox.ts';
import { open, registerVerified } from './registration.ts';
import { accessTokenOf, Client, made, testStack, type Account } from './stack.ts';

/** The seats of every account that owns a team: more than any test uses. */
const additionalMembers = 100;

/**
 * Arranges through the public interface of a deployed installation: registration, emailed links and the operator's API.
 */
export function arrangeByHttp(): Arranger {
  const operator = new Client(testStack().env['ADMIN_TOKEN']);
  return {
    account: (options) => createAccount(operator, options),
    team: (owner, members) => withTeamTier(operator, owner, () => createTeam(owner, members)),
    join: (teamId, owner, member) => withTeamTier(operator, owner, () => invite(teamId, owner, member)),
    async changeEmail({ client, password }, email) {
      await made(client.call('PATCH', '/api/users/me', { json: { email, current_password: password } }));
      await open(await mailedLink(email, 'verify-email'));
    },
    close: async () => undefined,
  };
}

async function createAccount(operator: Client, { tier = 'FREE', tierExpiresAt }: PersonOptions): Promise<Account> {
  const { email, password } = await registerVerified();
  if (tier !== 'FREE') {
    const expiresAt = tierExpiresAt === undefined ? {} : { expires_at: new Date(tierExpiresAt).toISOString() };
    await made(operator.call('PUT', `/admin/users/${email}/tier`, { json: { tier, ...expiresAt } }));
  }
  const client = new Client(await accessTokenOf({ email, password }));
  const user = await made(client.call('GET', '/api/users/me'));
  return { user, email, password, client };
}

/** Runs `action` while the owner has the TEAM tier and enough seats; tests own teams with accounts of any tier. */
async function withTeamTier<T>(operator: Client, owner: Account, action: () => Promise<T>): Promise<T> {
  const path = `/admin/users/${owner.email}/tier`;
  const before = await made(owner.client.call('GET', '/api/users/me'));
  await made(operator.call('PUT', path, { json: { tier: 'TEAM', additional_members: additionalMembers } }));
  await eventually(async () => {
    const { subscription_tier: tier } = await made(owner.client.call('GET', '/api/users/me'));
    if (tier !== 'TEAM') throw new Error('the tier has not arrived yet');
  });
  try {
    return await action();
  } finally {
    const { subscription_tier: tier, subscription_expires_at: expires_at } = before;
    await made(operator.call('PUT', path, { json: { tier, expires_at, additional_members: 0 } }));
  }
}

async function createTeam(owner: Account, members: readonly (readonly [Account, Role])[]): Promise<string> {
  const json = { name: randomUUID(), display_name: 'A team' };
  const { id } = await made(owner.client.call('POST', '/api/teams', { json }));
  for (const member of members) await invite(id as string, owner, member);
  return id as string;
}

async function invite(teamId: string, owner: Account, [member, role]: readonly [Account, Role]): Promise<void> {
  const sentBefore = (await mailsTo(member.email, 'team-invite')).length;
  await made(owner.client.call('POST', `/api/teams/${teamId}/invites`, { json: { email: member.email, role } }));
  const { hash } = await mailedLink(member.email, 'team-invite', sentBefore + 1);
  const token = hash.slice('#token='.length);
  await made(member.client.call('POST', '/api/teams/invites/accept', { json: { token } }));
}
