import { layOutMail, type Mail, type Recipient } from './mail.ts';

/** The link that proves the mailbox, after a registration or a change of address. */
export function verifyEmailMail(to: Recipient, link: string): Mail {
  return layOutMail({
    to,
    subject: 'Verify your address for Tocsin',
    paragraphs: [
      'this address was given for your account with Tocsin. Please open the link within 24 hours to say that it is yours.',
    ],
    action: { label: 'Verify this address', link },
    closing: 'If this was not you, do nothing: without the link the address is not used.',
  });
}
