import type { MailJob } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { managesTeam, type Team } from '@tocsin/shared/domain/teams/team.ts';
import { StaleVersion } from '@tocsin/shared/ports/documents.ts';
import { addMail, takeMailBudget } from '@tocsin/shared/runtime/request-mail.ts';
import { findMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';

type NoticeKind = Extract<MailJob, { kind: 'team-lapse' | 'team-removal' }>['kind'];

/** Users per read. */
const usersMax = 1_000;

/**
 * Enqueues the emails of the teams' notices: a lapse to the owner, a removal to the owner and the admins.
 * A recipient with several teams gets one email of each kind.
 */
export async function mailTeamNotices(deps: RetentionDeps, announced: readonly Team[]): Promise<void> {
  for (const kind of ['team-lapse', 'team-removal'] as const) {
    const concerned = announced.filter(({ notice }) => (notice === 'lapse') === (kind === 'team-lapse'));
    if (concerned.length === 0) continue;
    await mailEach(deps, kind, concerned);
    await Promise.all(concerned.map((team) => markSent(deps, team)));
  }
}

async function mailEach(deps: RetentionDeps, kind: NoticeKind, concerned: readonly Team[]): Promise<void> {
  // Based on the newest notice per recipient, so that a repeated run uses the same ID.
  const noticeAt = new Map<string, number>();
  for (const team of concerned) {
    for (const userId of await recipientsOf(deps, kind, team))
      noticeAt.set(userId, Math.max(noticeAt.get(userId) ?? 0, team.noticeAt!));
  }
  const ids = [...noticeAt.keys()];
  for (let at = 0; at < ids.length; at += usersMax) {
    for (const { id: userId, email } of await deps.engine.documents.getMany(users, ids.slice(at, at + usersMax))) {
      if (await takeMailBudget(deps, { email, requester: 'retention' }, kind))
        await addMail(deps, { kind, userId }, `${kind}.${userId}.${noticeAt.get(userId)}`);
    }
  }
}

async function recipientsOf({ engine: { documents } }: RetentionDeps, kind: NoticeKind, team: Team): Promise<string[]> {
  if (kind === 'team-lapse') return [team.ownerId];
  return (await findMembers(documents, team.id)).filter(({ role }) => managesTeam(role)).map(({ userId }) => userId);
}

/** A concurrently changed team is enqueued again with the same ID, which the queue ignores. */
async function markSent({ engine: { documents }, clock }: RetentionDeps, team: Team): Promise<void> {
  await documents.update(teams, team, { noticeSentAt: clock() }).catch((error: unknown) => {
    if (!(error instanceof StaleVersion)) throw error;
  });
}
