import { layOutMail, type Mail, type Recipient } from './mail.ts';

/** The link to the form for a new password. */
export function passwordResetMail(to: Recipient, link: string): Mail {
  return layOutMail({
    to,
    subject: 'Set a new password for Tocsin',
    paragraphs: [
      'someone requested a new password for your Tocsin account. The link is valid for one hour and can be used once. All devices must log in again afterwards.',
    ],
    actions: [{ label: 'Set a new password', link }],
    closing: 'If you did not request this, ignore this email. Your password does not change.',
  });
}
