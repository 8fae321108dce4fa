import { layOutMail, type Mail, type Recipient } from './mail.ts';

/** The link that verifies the address after a registration or a change of address. */
export function verifyEmailMail(to: Recipient, link: string): Mail {
  return layOutMail({
    to,
    subject: 'Verify your email address for Tocsin',
    paragraphs: [
      'someone used this email address for a Tocsin account. If it was you, open the link within 24 hours to verify the address.',
    ],
    action: { label: 'Verify this address', link },
    closing: 'If it was not you, ignore this email. The address is not used unless the link is opened.',
  });
}
