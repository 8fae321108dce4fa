import { layOutMail, type Mail, type Recipient } from './mail.ts';

/** Notifies the former address of the change. Does not name the new one, because someone else may read this mailbox. */
export function addressChangedMail(to: Recipient, link: string): Mail {
  return layOutMail({
    to,
    subject: 'The email address of your Tocsin account was changed',
    paragraphs: [
      'the email address of your Tocsin account was changed. Emails now go to the new address instead of this one.',
    ],
    actions: [{ label: 'Undo the change', link }],
    closing:
      'If you did not change it, someone else has access to your account: open the link within 7 days. This email address is then restored, all logins end, and you receive a link to set a new password. If you changed it, ignore this email.',
  });
}
