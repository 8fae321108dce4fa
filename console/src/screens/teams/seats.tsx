import type { TeamStats } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';

/** The account's seats over all teams that it owns. */
export function Seats({ stats }: { readonly stats: TeamStats }) {
  const { base_members: base, additional_members: added, used_members: used, total_members: total } = stats;
  const isFull = used >= total;
  return (
    <Section
      title="Seats"
      hint="You have seats for all your active teams together. A person in several of them uses one seat, and so do you. Pending invites use none."
    >
      <div class="card seats">
        <p>
          <strong>
            {used} of {total} seats used
          </strong>{' '}
          <span class="soft">
            ({base} included, {added} added by the operator)
          </span>
        </p>
        <svg class="seat-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
          <rect class="all" width="100" height="6" />
          <rect class={isFull ? 'full' : 'used'} width={Math.min(100, stats.percentage_used)} height="6" />
        </svg>
        {isFull ? (
          <p class="warning">
            All seats are used: the server refuses to invite or add anyone who has no seat yet, with “Team is full”.
            Remove a member, or contact the operator of this server to get more seats. The present members keep their
            access.
          </p>
        ) : (
          <p class="soft">
            Beyond the limit, the server refuses invites and new members with “Team is full”. The operator of this
            server can add seats.
          </p>
        )}
      </div>
    </Section>
  );
}
