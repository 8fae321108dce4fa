import { layOutMail, plainName, type Mail, type Recipient } from './mail.ts';

export interface Invitation {
  /** The team's display name. */
  readonly team: string;
  /** The username of the inviting account; null if it was removed. */
  readonly inviter: string | null;
  readonly role: string;
  readonly link: string;
}

/** The link that accepts the invitation. */
export function teamInviteMail(to: Recipient, { team, inviter, role, link }: Invitation): Mail {
  const who = inviter === null ? 'you are invited' : `${plainName(inviter)} invites you`;
  return layOutMail({
    to,
    subject: 'Invitation to a team on Tocsin',
    paragraphs: [
      `${who} to join the team “${plainName(team)}” on Tocsin as ${role === 'admin' ? 'an admin' : 'a member'}.`,
      'The link is valid for 7 days and can be used once, by an account with this email address. If you have no account, create one first.',
    ],
    actions: [{ label: 'Join the team', link }],
    closing: 'If you do not know the sender, ignore this email. Other people cannot use this link.',
  });
}
