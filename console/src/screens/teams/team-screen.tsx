import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call, CallFailed } from '../../api/call.ts';
import type { DeactivatedTeam, TeamInvite, TeamStats, TeamWithMembers } from '../../api/wire.ts';
import { session } from '../../api/session.ts';
import { isolate } from '../../parts/isolate.ts';
import { Loading } from '../../parts/loading.tsx';
import { teamsPath } from '../../parts/paths.ts';
import { completeTime } from '../../parts/time/times.ts';
import { useLoad, type Loaded } from '../../parts/use-load.ts';
import { DeactivatedBadge, RoleBadge } from './badges.tsx';
import { Reactivate, tierReason } from './deactivated-teams.tsx';
import { DeleteTeam } from './delete-team.tsx';
import { Invites } from './invites.tsx';
import { LeaveTeam } from './leave-team.tsx';
import { Members } from './members.tsx';
import { Seats } from './seats.tsx';
import { TeamForm } from './team-form.tsx';
import { TeamSubscriptions } from './team-subscriptions.tsx';
import { TeamTopics } from './team-topics.tsx';
import './teams.css';

/** A team with what the role of the account allows it to see. */
interface Opened {
  readonly team: TeamWithMembers;
  readonly myId: string;
  /** Null without the right to manage the team. */
  readonly invites: readonly TeamInvite[] | null;
  /** Null unless the account owns the team. */
  readonly ownership: Ownership | null;
}

interface Ownership {
  readonly stats: TeamStats;
  readonly tier: string;
  /** Null if the team is active. */
  readonly removalAt: string | null;
}

async function openTeam(id: string): Promise<Opened> {
  const path = `/api/teams/${encodeURIComponent(id)}`;
  const [team, me] = await Promise.all([
    call<TeamWithMembers>('GET', path),
    call<{ id: string; subscription_tier: string }>('GET', '/auth/me'),
  ]);
  const isOwner = team.my_role === 'owner';
  const [invites, stats, deactivated] = await Promise.all([
    team.my_role === 'member' ? null : call<TeamInvite[]>('GET', `${path}/invites`),
    isOwner ? call<TeamStats>('GET', '/api/teams/stats') : null,
    isOwner && !team.is_active ? call<DeactivatedTeam[]>('GET', '/api/teams/deactivated') : [],
  ]);
  const removalAt = deactivated.find((one) => one.id === team.id)?.removal_at ?? null;
  const ownership = stats === null ? null : { stats, tier: me.subscription_tier, removalAt };
  return { team, myId: me.id, invites, ownership };
}

export function TeamScreen({ item: id }: { readonly item: string }) {
  const { loaded, reload } = useLoad(() => openTeam(id), id);
  const title = loaded.state === 'done' ? loaded.value.team.display_name : null;
  useEffect(() => {
    if (title !== null) document.title = `${isolate(title)} · Tocsin`;
  }, [title]);
  return (
    <div class="page settings-page team-page">
      <p class="links">
        <Link href={teamsPath}>All teams</Link>
      </p>
      {isClosed(loaded) ? (
        <ClosedTeam />
      ) : (
        <>
          {title === null && <h1>Team</h1>}
          <Loading loaded={loaded} retry={reload} rows={6}>
            {(opened) => <OpenTeam opened={opened} reload={reload} />}
          </Loading>
        </>
      )}
    </div>
  );
}

/** Whether the server does not show the team to the account. */
const isClosed = ({ state, ...rest }: Loaded<Opened>): boolean =>
  state === 'failed' &&
  'error' in rest &&
  rest.error instanceof CallFailed &&
  [403, 404, 422].includes(rest.error.status);

function ClosedTeam() {
  return (
    <>
      <h1>Team not found</h1>
      <p class="soft">
        The team was deleted, or {session.value?.user?.username ?? 'your account'} is not a member of it. If you expect
        to be one, ask an admin of the team for an invite.
      </p>
    </>
  );
}

interface OpenTeamProps {
  readonly opened: Opened;
  readonly reload: () => Promise<void>;
}

function OpenTeam({ opened: { team, myId, invites, ownership }, reload }: OpenTeamProps) {
  const isManager = team.my_role !== 'member';
  return (
    <>
      <header class="topic-head">
        <div class="topic-title">
          <h1 class="topic-name" dir="auto">
            {team.display_name}
          </h1>
          <span class="badge">{team.name}</span>
          <RoleBadge role={team.my_role} />
          {!team.is_active && <DeactivatedBadge />}
        </div>
        {team.description !== '' && (
          <p class="soft" dir="auto">
            {team.description}
          </p>
        )}
        <p class="soft">{roleTexts[team.my_role]}</p>
      </header>
      {!team.is_active && <Deactivated team={team} ownership={ownership} reload={reload} />}
      <TeamTopics team={team} />
      <Members team={team} myId={myId} reload={reload} />
      {invites !== null && (
        <Invites team={team} invites={invites} isFull={ownership?.stats.available_members === 0} reload={reload} />
      )}
      {isManager && <TeamSubscriptions team={team} reloadTeam={reload} />}
      {ownership !== null && <Seats stats={ownership.stats} />}
      {isManager && <TeamForm team={team} reload={reload} />}
      {ownership === null ? <LeaveTeam team={team} myId={myId} reload={reload} /> : <DeleteTeam team={team} />}
    </>
  );
}

const roleTexts = {
  owner: 'You own this team: you manage its topics, members, invites and seats.',
  admin: 'You are an admin: you manage the topics, members and invites of this team. Only the owner can delete it.',
  member:
    'You are a member: you read all topics of this team and publish to them. Its owner and admins manage topics, members and invites.',
} as const;

interface DeactivatedProps extends Pick<Opened, 'team' | 'ownership'> {
  readonly reload: () => Promise<void>;
}

function Deactivated({ team, ownership, reload }: DeactivatedProps) {
  return (
    <div class="card deactivated" role="status">
      <p>
        This team is deactivated, because its owner has no TEAM tier. Its topics can be read; publishing, new topics,
        invites and new members are refused.
      </p>
      {ownership === null ? (
        <p class="soft">Only the owner can reactivate it.</p>
      ) : (
        <>
          {ownership.removalAt !== null && (
            <p>
              It will be removed on {completeTime(ownership.removalAt)}. Its topics then become your private topics.
            </p>
          )}
          <Reactivate team={team} tier={ownership.tier} reload={reload} />
          {ownership.tier !== 'TEAM' && <p class="soft">{tierReason(ownership.tier)}</p>}
        </>
      )}
    </div>
  );
}
