import { useState } from 'preact/hooks';
import { call, CallFailed } from '../../api/call.ts';
import { sendsEmails } from '../../api/features.ts';
import type { TeamInvite, TeamWithMembers } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Field, Form, Select, type FormValues } from '../../parts/form.tsx';
import { isolate } from '../../parts/isolate.ts';
import { timeAgo } from '../../parts/time/times.ts';
import { toast, undoable } from '../../parts/toasts.tsx';
import { actOnTeam } from './act-on-team.ts';
import { ActionButton } from './action-button.tsx';
import { RoleBadge } from './badges.tsx';

const errorFields = { 'Already a member': 'email', 'Already invited': 'email' };

const explanations: Readonly<Record<string, string>> = {
  'Team is full': "Team is full: all seats of the team's owner are used. People who already have one can be invited.",
  'Invite limit reached': 'Invite limit reached: a team has at most 100 pending invites.',
};

/** Adds to an error of the server what its text does not explain. */
function explained(error: Error): Error {
  const text = explanations[error.message];
  return text === undefined ? error : new Error(text, { cause: error });
}

interface InvitesProps {
  readonly team: TeamWithMembers;
  readonly invites: readonly TeamInvite[];
  /** Whether the owner, who sees it, has no free seat. */
  readonly isFull: boolean;
  readonly reload: () => Promise<void>;
}

/** Pending invites, and the form that sends one. */
export function Invites({ team, invites, isFull, reload }: InvitesProps) {
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const invite = async (values: FormValues) => {
    const json = { email: values.text('email').trim(), role: values.text('role') };
    const cancelled = invites.find(({ id, email }) => hidden.includes(id) && email === json.email.toLowerCase());
    if (cancelled !== undefined) await cancelInvite(cancelled.id, false);
    const send = () => call('POST', `/api/teams/${team.id}/invites`, { json });
    const isDone = await actOnTeam(send, reload).catch((error: unknown) => {
      throw explained(error as Error);
    });
    if (!isDone) return undefined;
    return sendsEmails
      ? `${isolate(json.email)} is invited and receives an email with a link.`
      : `${isolate(json.email)} is invited. Ask the operator of this server for the link.`;
  };
  const cancel = ({ id, email }: TeamInvite) => {
    setHidden([...hidden, id]);
    undoable({
      text: `The invite for ${isolate(email)} is cancelled.`,
      commit: (isClosing) => cancelInvite(id, isClosing),
      restore: () => {
        setHidden((ids) => ids.filter((one) => one !== id));
        void reload();
      },
    });
  };
  return (
    <Section title="Invites" hint={inviteHint}>
      <InviteList
        team={team}
        invites={invites.filter(({ id }) => !hidden.includes(id))}
        cancel={cancel}
        reload={reload}
      />
      {team.is_active ? (
        <details class="create">
          <summary>Invite someone …</summary>
          <Form action="Send invite" send={invite} clear errorFields={errorFields}>
            <div class="columns">
              <Field id="email" label="Email" type="email" required maxLength={254} autocomplete="off" />
              <Select
                id="role"
                label="Role"
                options={[
                  ['member', 'Member'],
                  ['admin', 'Admin'],
                ]}
              />
            </div>
            {isFull && <p class="warning">All seats are used. You can only invite people who already have one.</p>}
          </Form>
        </details>
      ) : (
        <p class="soft">A deactivated team cannot invite anyone.</p>
      )}
    </Section>
  );
}

const inviteHint = sendsEmails
  ? 'The invited person receives an email with a link, which is valid for 7 days and only for an account with that address. The server sends at most five emails per hour to one address.'
  : 'This server does not send emails. It stores the link of each invite in a file: ask the operator for it, and pass it to the invited person. It is valid for 7 days and only for an account with that address.';

/** Resolves also if the invite was accepted or cancelled meanwhile. */
async function cancelInvite(id: string, isClosing: boolean): Promise<void> {
  await call('DELETE', `/api/teams/invites/${id}`, { keepalive: isClosing }).catch((error: unknown) => {
    if (!(error instanceof CallFailed && error.status === 404)) throw error;
  });
}

interface InviteListProps {
  readonly team: TeamWithMembers;
  readonly invites: readonly TeamInvite[];
  readonly cancel: (invite: TeamInvite) => void;
  readonly reload: () => Promise<void>;
}

function InviteList({ team, invites, cancel, reload }: InviteListProps) {
  const resend = async ({ id, email }: TeamInvite) => {
    const isDone = await actOnTeam(() => call('POST', `/api/teams/invites/${id}/resend`), reload);
    if (isDone && sendsEmails) toast(`A new link is sent to ${isolate(email)}. The previous one is invalid.`);
    else if (isDone) toast(`A new link for ${isolate(email)} is stored. Ask the operator of this server for it.`);
  };
  if (invites.length === 0) return <p class="soft">No invites are pending.</p>;
  return (
    <ul class="rows">
      {invites.map((invite) => (
        <li key={invite.id}>
          <div class="grow">
            <div class="row-title">
              <span dir="auto">{invite.email}</span>
              <RoleBadge role={invite.role} />
              {invite.is_expired && <span class="badge failed">expired</span>}
            </div>
            <div class="soft">
              invited by {nameOf(team, invite.invited_by_id)} {timeAgo(invite.created_at)} ·{' '}
              {invite.is_expired ? 'expired' : 'expires'} {timeAgo(invite.expires_at)}
            </div>
          </div>
          <div class="row-actions">
            <ActionButton
              text="Resend"
              label={`Resend the invite for ${invite.email}`}
              run={() => resend(invite)}
              isDisabled={!team.is_active}
            />
            <button
              type="button"
              class="button"
              aria-label={`Cancel the invite for ${invite.email}`}
              onClick={() => cancel(invite)}
            >
              Cancel
            </button>
          </div>
        </li>
      ))}
    </ul>
  );
}

const nameOf = (team: TeamWithMembers, userId: string): string =>
  team.members.find(({ user_id }) => user_id === userId)?.username ?? 'a former member';
