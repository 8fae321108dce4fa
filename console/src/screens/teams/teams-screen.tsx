import { Link } from 'wouter-preact';
import { call } from '../../api/call.ts';
import type { DeactivatedTeam, Team, TeamStats } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { teamPath } from '../../parts/paths.ts';
import { useLoad } from '../../parts/use-load.ts';
import { DeactivatedBadge, RoleBadge } from './badges.tsx';
import { CreateTeam } from './create-team.tsx';
import { DeactivatedTeams } from './deactivated-teams.tsx';
import { Seats } from './seats.tsx';
import './teams.css';

interface Overview {
  readonly teams: readonly Team[];
  readonly deactivated: readonly DeactivatedTeam[];
  readonly stats: TeamStats;
  /** The tier in force, which can have changed since the login. */
  readonly tier: string;
}

async function loadOverview(): Promise<Overview> {
  const [teams, deactivated, stats, me] = await Promise.all([
    call<Team[]>('GET', '/api/teams'),
    call<DeactivatedTeam[]>('GET', '/api/teams/deactivated'),
    call<TeamStats>('GET', '/api/teams/stats'),
    call<{ subscription_tier: string }>('GET', '/auth/me'),
  ]);
  return { teams, deactivated, stats, tier: me.subscription_tier };
}

/** The teams of the account. */
export function TeamsScreen() {
  const { loaded, reload } = useLoad(loadOverview, 'teams');
  return (
    <div class="page settings-page">
      <h1>Teams</h1>
      <Loading loaded={loaded} retry={reload}>
        {({ teams, deactivated, stats, tier }) => (
          <>
            <TeamList teams={teams} />
            <DeactivatedTeams teams={deactivated} tier={tier} reload={reload} />
            {teams.some(({ my_role }) => my_role === 'owner') && <Seats stats={stats} />}
            <CreateTeam tier={tier} />
          </>
        )}
      </Loading>
    </div>
  );
}

function TeamList({ teams }: { readonly teams: readonly Team[] }) {
  return (
    <Section title="Your teams">
      {teams.length === 0 ? (
        <p class="empty soft">
          You are in no team. A team shares topics: its members read them and publish to them. To join one, open the
          link in the email that invites you.
        </p>
      ) : (
        <ul class="topic-list">
          {teams.map((team) => (
            <li key={team.id}>
              <Link href={teamPath(team.id)}>
                <Icon name="team" />
                <span class="topic-list-name" dir="auto">
                  {team.display_name}
                </span>
              </Link>
              <span class="topic-list-text soft" dir="auto">
                {team.description}
              </span>
              {!team.is_active && <DeactivatedBadge />}
              <RoleBadge role={team.my_role} />
              <span class="topic-list-time soft">{membersText(team.member_count)}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

const membersText = (count: number): string => (count === 1 ? '1 member' : `${count} members`);
