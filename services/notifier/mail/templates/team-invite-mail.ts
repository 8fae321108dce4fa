import { layOutMail, type Mail, type Recipient } from './mail.ts';

export interface Invitation {
  /** The team's display name. */
  readonly team: string;
  /** The username of whoever invites; null when that account is gone. */
  readonly inviter: string | null;
  readonly role: string;
  readonly link: string;
}

/** The link that takes the invited address into a team. */
export function teamInviteMail(to: Recipient, { team, inviter, role, link }: Invitation): Mail {
  const who = inviter === null ? 'you are invited' : `${inviter} invites you`;
  return layOutMail({
    to,
    subject: `Invitation to the team ${team}`,
    paragraphs: [
      `${who} to join the team “${team}” on Tocsin as ${role === 'admin' ? 'an admin' : 'a member'}.`,
      'The link is good for 7 days, and once, for an account with this address. Without one you can make it first.',
    ],
    action: { label: 'Join the team', link },
    closing: 'If you do not know them, do nothing: nobody else can use this link.',
  });
}
