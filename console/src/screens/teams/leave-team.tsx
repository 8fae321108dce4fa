import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { call } from '../../api/call.ts';
import type { Team } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { isolate } from '../../parts/isolate.ts';
import { teamsPath } from '../../parts/paths.ts';
import { toast } from '../../parts/toasts.tsx';
import { loadInbox } from '../../state/inbox.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { actOnTeam } from './act-on-team.ts';

interface LeaveTeamProps {
  readonly team: Team;
  readonly myId: string;
  readonly reload: () => Promise<void>;
}

export function LeaveTeam({ team, myId, reload }: LeaveTeamProps) {
  const [, navigate] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const openList = async () => {
    await loadInbox().catch(() => undefined);
    navigate(teamsPath, { replace: true });
    toast(`You left ${isolate(team.display_name)}.`);
  };
  const leave = () => actOnTeam(() => call('DELETE', `/api/teams/${team.id}/members/${myId}`), reload, openList);
  return (
    <Section title="Leave the team">
      <button type="button" class="button danger" onClick={() => setAsking(true)}>
        Leave the team …
      </button>
      {isAsking && (
        <ConfirmDialog title="Leave the team?" action="Leave" run={leave} onClose={() => setAsking(false)}>
          <p>
            You lose access to the private topics of <bdi>{team.display_name}</bdi>, and your subscriptions and open
            streams of them end, as do subscriptions that the team set. Topic tokens and invites that you created for
            the team become invalid. To return, you need a new invite.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}
