/** The queue of emails. Jobs contain IDs only; the worker looks up addresses and creates tokens when it sends. */
export const mailQueue = 'mail';

/** An email to send. Each kind has a template in the notifier's `compose-mail.ts`. */
export type MailJob =
  /** About one registration; without it, about all that wait for the account's address. */
  | { readonly kind: 'verify-email'; readonly userId: string; readonly registrationId?: string }
  | { readonly kind: 'password-reset'; readonly userId: string }
  | { readonly kind: 'address-changed'; readonly addressChangeId: string }
  | { readonly kind: 'team-invite'; readonly inviteId: string }
  /**
   * One email per recipient about all teams that lost their tier (to the owner) or will be removed (to owner and
   * admins).
   */
  | { readonly kind: 'team-lapse' | 'team-removal'; readonly userId: string }
  /** To the creator of a sink that had no delivery for a day. */
  | { readonly kind: 'sink-paused'; readonly sinkId: string }
  | NoticeJob;

/** A notice to the owner of something that a thief of the account would do. */
export type NoticeJob =
  /** `at` is in milliseconds since the epoch. */
  | { readonly kind: 'password-changed'; readonly userId: string; readonly at: number }
  | { readonly kind: 'api-key-created'; readonly apiKeyId: string }
  | { readonly kind: 'identity-linked'; readonly identityId: string }
  /** A login from a network without earlier logins. */
  | { readonly kind: 'new-login'; readonly sessionId: string };

export type MailKind = MailJob['kind'];

/**
 * Attempts of an email: the first immediately, then after pauses that double from 2 s, for 68 minutes in total. By
 * then, the recipient has requested another email.
 */
export const mailAttempts = { attempts: 12, backoffMs: 2_000 } as const;
