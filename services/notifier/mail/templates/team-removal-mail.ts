import { formatDate, layOutMail, plainName, type Mail, type Recipient } from './mail.ts';
import type { TeamDate } from './team-lapse-mail.ts';

/** Notifies an owner or admin of the removal of deactivated teams and of the fate of their topics. */
export function teamRemovalMail(to: Recipient, teams: readonly TeamDate[]): Mail {
  return layOutMail({
    to,
    subject:
      teams.length === 1
        ? 'A team of yours on Tocsin will be removed'
        : `${teams.length} of your teams on Tocsin will be removed`,
    paragraphs: [
      'these teams are deactivated and will be removed at these times:',
      ...teams.map(({ team, at }) => `“${plainName(team)}”: ${formatDate(at)}`),
      'Their members and invites will be removed too. Their topics and messages stay, as private topics of the owner.',
    ],
    closing: 'To keep a team, its owner can reactivate it before then. This requires the TEAM tier.',
  });
}
