import { formatDate, layOutMail, plainName, type Mail, type Recipient } from './mail.ts';

/** An event of an account. `at` is in milliseconds since the epoch. */
export type AccountEvent =
  | { readonly kind: 'password-changed'; readonly at: number }
  | { readonly kind: 'api-key-created'; readonly at: number; readonly name: string }
  | { readonly kind: 'identity-linked'; readonly at: number; readonly provider: string }
  | {
      readonly kind: 'new-login';
      readonly at: number;
      readonly address: string | null;
      readonly userAgent: string | null;
    };

/** Notifies the owner of an event that a thief of the account would cause. The subject contains no text of a user. */
export function accountNoticeMail(to: Recipient, event: AccountEvent, passwordLink: string): Mail {
  const { subject, text } = describe(event);
  return layOutMail({
    to,
    subject,
    paragraphs: [
      text,
      'If it was you, ignore this email. If not, someone else has access to your account: set a new password, which ends all logins, and check the API keys of the account.',
    ],
    actions: [{ label: 'Set a new password', link: passwordLink }],
    closing: 'You receive this email because it concerns the security of your account.',
  });
}

function describe(event: AccountEvent): { subject: string; text: string } {
  const at = formatDate(event.at);
  switch (event.kind) {
    case 'password-changed':
      return {
        subject: 'The password of your Tocsin account was changed',
        text: `the password of your Tocsin account was changed at ${at}. All other logins have ended.`,
      };
    case 'api-key-created':
      return {
        subject: 'New API key for your Tocsin account',
        text: `the API key “${plainName(event.name)}” was created for your Tocsin account at ${at}.`,
      };
    case 'identity-linked':
      return {
        subject: 'New way to log in to your Tocsin account',
        text: `an account at ${event.provider} with your email address was linked to your Tocsin account at ${at}. It can now be used to log in.`,
      };
    case 'new-login': {
      const from = event.address === null ? '' : ` from the address ${event.address}`;
      const client = event.userAgent === null ? '' : ` The program calls itself “${plainName(event.userAgent)}”.`;
      return {
        subject: 'New login to your Tocsin account',
        text: `someone logged in to your Tocsin account at ${at}${from}, from a network without earlier logins.${client}`,
      };
    }
  }
}
