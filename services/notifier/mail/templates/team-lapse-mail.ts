import { formatDate, layOutMail, type Mail, type Recipient } from './mail.ts';

/** Something that happens to a team. `at`: milliseconds since the epoch. */
export interface TeamDate {
  /** The team's display name. */
  readonly team: string;
  readonly at: number;
}

/** Tells the owner that the grace of their teams has begun, and what happens after it. */
export function teamLapseMail(to: Recipient, teams: readonly TeamDate[]): Mail {
  return layOutMail({
    to,
    subject: 'Your plan with Tocsin no longer includes teams',
    paragraphs: [
      'your account is below the TEAM tier. Until these times your teams go on as they are; then they are deactivated:',
      ...teams.map(({ team, at }) => `“${team}”: ${formatDate(at)}`),
      'Nobody can publish to the topics of a deactivated team or join it; what was published can still be read. With the TEAM tier back before then, nothing happens.',
    ],
    closing: 'To get the TEAM tier again, ask whoever runs this installation.',
  });
}
