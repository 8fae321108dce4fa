import { call } from '../../../../api/call.ts';
import { session } from '../../../../api/session.ts';
import type { Team, TeamWithMembers, Topic } from '../../../../api/wire.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
}

/** Teams whose members are offered for a topic without a team. */
const teamsMax = 10;

/**
 * The accounts that a step of the topic's policy can name: members of its team, or the own account and, because
 * everyone can read a public topic, the members of the own teams.
 */
export async function loadAccounts({ team_id, access_level }: Topic): Promise<readonly Account[]> {
  const teamIds = team_id === null ? (access_level === 'public' ? await ownTeams() : []) : [team_id];
  const teams = await Promise.all(teamIds.map((id) => call<TeamWithMembers>('GET', `/api/teams/${id}`)));
  const user = session.value?.user ?? null;
  const all = [
    ...(user === null || team_id !== null ? [] : [{ id: user.id, name: user.username }]),
    ...teams.flatMap(({ members }) => members.map(({ user_id, username }) => ({ id: user_id, name: username }))),
  ];
  return [...new Map(all.map((one) => [one.id, one])).values()];
}

const ownTeams = async (): Promise<readonly string[]> =>
  (await call<Team[]>('GET', '/api/teams')).slice(0, teamsMax).map(({ id }) => id);
