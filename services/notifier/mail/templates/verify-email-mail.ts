import { layOutMail, plainName, type Mail, type Recipient } from './mail.ts';

/** The link that verifies the address for the account with this username. */
export interface VerificationLink {
  readonly username: string;
  readonly link: string;
}

/** The links that verify the address after registrations or a change of address. */
export function verifyEmailMail(to: Recipient, links: readonly VerificationLink[]): Mail {
  const names = links.map(({ username }) => `“${plainName(username)}”`);
  const one = `someone used this email address for the Tocsin account ${names[0]}. If it was you, open the link within 24 hours to verify the address.`;
  const several = `${links.length} registrations with this email address wait for verification. Open the link of your username within 24 hours; the others are then removed.`;
  return layOutMail({
    to,
    subject: 'Verify your email address for Tocsin',
    paragraphs: [links.length === 1 ? one : several],
    actions: links.map(({ link }, index) => ({
      label: links.length === 1 ? 'Verify this address' : `Verify this address for ${names[index]}`,
      link,
    })),
    closing: 'If it was not you, ignore this email. The address is not used unless a link is opened.',
  });
}
