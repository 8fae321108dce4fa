import { layOutMail, type Mail, type Recipient } from './mail.ts';

/** Tells the former address that the account has left it. The new one is not named: this mailbox may be a stranger's. */
export function addressChangedMail(to: Recipient): Mail {
  return layOutMail({
    to,
    subject: 'The address of your Tocsin account was changed',
    paragraphs: [
      'the address of your account with Tocsin was changed. Mails go to the new address from now on, not to this one.',
    ],
    closing: 'If this was not you, somebody else is logged in to your account: tell whoever runs this installation.',
  });
}
