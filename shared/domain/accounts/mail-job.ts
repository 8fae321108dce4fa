/** The queue of mails. Its jobs carry ids only: addresses and tokens are looked up and made when a mail is sent. */
export const mailQueue = 'mail';

/** A mail to be sent. Whoever adds a kind adds its mail in the notifier's `compose-mail.ts`. */
export type MailJob =
  | { readonly kind: 'verify-email'; readonly userId: string }
  | { readonly kind: 'password-reset'; readonly userId: string }
  | { readonly kind: 'address-changed'; readonly addressChangeId: string }
  | { readonly kind: 'team-invite'; readonly inviteId: string }
  /** To the owner of teams that have lost their tier, and to whoever manages teams that will be removed: one mail for all of them. */
  | { readonly kind: 'team-lapse' | 'team-removal'; readonly userId: string };

export type MailKind = MailJob['kind'];

/**
 * How a mail is tried: at once, then after pauses that double from 2 s, for 68 minutes in all. Longer, and the reader
 * would have asked again.
 */
export const mailAttempts = { attempts: 12, backoffMs: 2_000 } as const;
