import { formatDate, layOutMail, plainName, type Mail, type Recipient } from './mail.ts';

/** An event of a team. `at` is in milliseconds since the epoch. */
export interface TeamDate {
  /** The team's display name. */
  readonly team: string;
  readonly at: number;
}

/** Notifies the owner of the grace period of their teams and its end. */
export function teamLapseMail(to: Recipient, teams: readonly TeamDate[]): Mail {
  return layOutMail({
    to,
    subject: 'Your Tocsin plan no longer includes teams',
    paragraphs: [
      'your account is below the TEAM tier. Your teams work as before until these times, and are then deactivated:',
      ...teams.map(({ team, at }) => `“${plainName(team)}”: ${formatDate(at)}`),
      'A deactivated team accepts no messages and no new members; its messages can still be read. If you regain the TEAM tier before then, nothing changes.',
    ],
    closing: 'To regain the TEAM tier, contact the operator of this installation.',
  });
}
