import { call } from '../../api/call.ts';
import type { DeactivatedTeam } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { completeTime, timeAgo } from '../../parts/time/times.ts';
import { isolate } from '../../parts/isolate.ts';
import { toast } from '../../parts/toasts.tsx';
import { actOnTeam } from './act-on-team.ts';
import { ActionButton } from './action-button.tsx';

interface DeactivatedTeamsProps {
  readonly teams: readonly DeactivatedTeam[];
  /** The tier of the account, which owns the teams. */
  readonly tier: string;
  readonly reload: () => Promise<void>;
}

/** Deactivated teams of the account, which it can reactivate until their removal. */
export function DeactivatedTeams({ teams, tier, reload }: DeactivatedTeamsProps) {
  if (teams.length === 0) return null;
  return (
    <Section
      title="Deactivated teams"
      hint="A team is deactivated when its owner has no TEAM tier for some time. It can be read; publishing to it, new topics, invites and new members are refused. When it is removed, its topics become your private topics."
    >
      <ul class="rows">
        {teams.map((team) => (
          <li key={team.id}>
            <div class="grow">
              <div dir="auto">{team.display_name}</div>
              <div class="soft">
                deactivated {timeAgo(team.deactivated_at)} · will be removed on {completeTime(team.removal_at)}
              </div>
            </div>
            <Reactivate team={team} tier={tier} reload={reload} />
          </li>
        ))}
      </ul>
      {tier !== 'TEAM' && <p class="hint">{tierReason(tier)}</p>}
    </Section>
  );
}

export const tierReason = (tier: string): string =>
  `Reactivating a team requires the TEAM tier, and your account has the tier ${tier}. Contact the operator of this server.`;

interface ReactivateProps {
  readonly team: Pick<DeactivatedTeam, 'id' | 'display_name'>;
  readonly tier: string;
  readonly reload: () => Promise<void>;
}

export function Reactivate({ team, tier, reload }: ReactivateProps) {
  const name = isolate(team.display_name);
  const reactivate = async () => {
    const isDone = await actOnTeam(() => call('POST', `/api/teams/${team.id}/reactivate`), reload);
    if (isDone) toast(`${name} is active again.`);
  };
  return <ActionButton text="Reactivate" label={`Reactivate ${name}`} run={reactivate} isDisabled={tier !== 'TEAM'} />;
}
