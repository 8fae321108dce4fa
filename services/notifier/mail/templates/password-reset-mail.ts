import { layOutMail, type Mail, type Recipient } from './mail.ts';

/** The link that opens the form for a new password. */
export function passwordResetMail(to: Recipient, link: string): Mail {
  return layOutMail({
    to,
    subject: 'Set a new password for Tocsin',
    paragraphs: [
      'a new password was asked for your account with Tocsin. The link is good for one hour, and once. All devices will have to log in again.',
    ],
    action: { label: 'Set a new password', link },
    closing: 'If this was not you, do nothing: your password stays as it is.',
  });
}
