import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { TeamMember, TeamWithMembers } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { timeAgo } from '../../parts/time/times.ts';
import { toast } from '../../parts/toasts.tsx';
import { actOnTeam } from './act-on-team.ts';
import { ActionButton } from './action-button.tsx';
import { RoleBadge } from './badges.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';

/** Larger teams get a field that filters the members. */
const filterFrom = 10;
/** Members shown before "Show all". */
const shownMax = 50;

interface MembersProps {
  readonly team: TeamWithMembers;
  readonly myId: string;
  readonly reload: () => Promise<void>;
}

const roles: readonly TeamMember['role'][] = ['owner', 'admin', 'member'];

const byRoleAndName = (one: TeamMember, other: TeamMember): number =>
  roles.indexOf(one.role) - roles.indexOf(other.role) || one.username.localeCompare(other.username);

/** A change that the user has to confirm. */
interface Pending {
  readonly kind: 'demote' | 'remove';
  readonly member: TeamMember;
}

export function Members({ team, myId, reload }: MembersProps) {
  const [pending, setPending] = useState<Pending | null>(null);
  useEffect(() => {
    if (pending === null) return undefined;
    return () => {
      // The focus returns to the button of the row, unless the row is gone.
      if (document.activeElement === document.body) document.getElementById('members')?.focus();
    };
  }, [pending]);
  const isManager = team.my_role !== 'member';
  const pathOf = ({ user_id }: TeamMember) => `/api/teams/${team.id}/members/${user_id}`;
  const setRole = async (member: TeamMember, role: 'admin' | 'member') => {
    const isDone = await actOnTeam(() => call('PATCH', pathOf(member), { json: { role } }), reload);
    if (isDone) toast(`${member.username} is now ${role === 'admin' ? 'an admin' : 'a member'}.`);
  };
  const remove = async (member: TeamMember) => {
    const isDone = await actOnTeam(() => call('DELETE', pathOf(member)), reload);
    if (isDone) toast(`${member.username} is removed from the team.`);
  };
  const actions = (member: TeamMember) => (
    <MemberActions
      member={member}
      isMe={member.user_id === myId}
      promote={() => setRole(member, 'admin')}
      ask={(kind) => setPending({ kind, member })}
    />
  );
  return (
    <Section
      title={`Members (${team.member_count})`}
      hint={
        isManager
          ? "Admins manage the team's topics, members and invites. The owner cannot be removed, and ownership cannot be transferred."
          : undefined
      }
    >
      <MemberList members={team.members} myId={myId} actions={isManager ? actions : () => null} />
      {pending !== null && (
        <ConfirmChange
          pending={pending}
          isMe={pending.member.user_id === myId}
          run={() => (pending.kind === 'remove' ? remove(pending.member) : setRole(pending.member, 'member'))}
          onClose={() => setPending(null)}
        />
      )}
    </Section>
  );
}

interface MemberListProps {
  readonly members: readonly TeamMember[];
  readonly myId: string;
  readonly actions: (member: TeamMember) => ComponentChildren;
}

function MemberList({ members, myId, actions }: MemberListProps) {
  const [filter, setFilter] = useState('');
  const [isAll, setAll] = useState(false);
  const part = filter.trim().toLowerCase();
  const found = members
    .filter(({ username, email }) => `${username} ${email}`.toLowerCase().includes(part))
    .toSorted(byRoleAndName);
  return (
    <>
      {members.length > filterFrom && (
        <input
          type="search"
          class="member-filter"
          aria-label="Filter the members"
          placeholder="Filter by username or email"
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      {found.length === 0 && <p class="soft">No member matches “{filter.trim()}”.</p>}
      <ul class="rows" id="members" tabIndex={-1}>
        {found.slice(0, isAll ? undefined : shownMax).map((member) => (
          <li key={member.id}>
            <div class="grow">
              <div class="row-title">
                <span dir="auto">{member.username}</span>
                <RoleBadge role={member.role} />
                {member.user_id === myId && <span class="badge">you</span>}
                {!member.is_active && (
                  <span class="badge retrying" title="Only the operator of this server can enable the account again.">
                    account disabled
                  </span>
                )}
              </div>
              <div class="soft">
                <span dir="auto">{member.email}</span> · joined {timeAgo(member.joined_at)}
              </div>
            </div>
            {actions(member)}
          </li>
        ))}
      </ul>
      {found.length > shownMax && !isAll && (
        <button type="button" class="link-button" onClick={() => setAll(true)}>
          Show all {found.length}
        </button>
      )}
    </>
  );
}

interface MemberActionsProps {
  readonly member: TeamMember;
  readonly isMe: boolean;
  readonly promote: () => Promise<void>;
  readonly ask: (kind: Pending['kind']) => void;
}

/** The actions of owner and admins. The owner stays the owner. */
function MemberActions({ member: { username, role }, isMe, promote, ask }: MemberActionsProps) {
  if (role === 'owner') return null;
  const isAdmin = role === 'admin';
  return (
    <div class="row-actions">
      <ActionButton
        text={isAdmin ? 'Make member' : 'Make admin'}
        label={isAdmin ? `Make ${username} a member` : `Make ${username} an admin`}
        run={async () => (isAdmin ? ask('demote') : promote())}
      />
      {!isMe && (
        <button type="button" class="button" aria-label={`Remove ${username}`} onClick={() => ask('remove')}>
          Remove
        </button>
      )}
    </div>
  );
}

interface ConfirmChangeProps {
  readonly pending: Pending;
  readonly isMe: boolean;
  readonly run: () => Promise<void>;
  readonly onClose: () => void;
}

function ConfirmChange({ pending: { kind, member }, isMe, run, onClose }: ConfirmChangeProps) {
  const name = member.username;
  if (kind === 'remove')
    return (
      <ConfirmDialog title={`Remove ${name}?`} action="Remove" run={run} onClose={onClose}>
        <p>
          {name} loses access to the private topics of the team, and subscriptions and open streams of them end, as do
          subscriptions that the team set. Topic tokens and invites that {name} created for the team become invalid. To
          return, {name} needs a new invite.
        </p>
      </ConfirmDialog>
    );
  return (
    <ConfirmDialog title={`Make ${name} a member?`} action="Make member" run={run} onClose={onClose}>
      <p>
        {isMe ? 'You' : name} can no longer manage the topics, members and invites of the team.{' '}
        {isMe && 'Only another admin or the owner can undo this. '}
        Topic tokens and invites that {isMe ? 'you' : name} created for the team become invalid.
      </p>
    </ConfirmDialog>
  );
}
