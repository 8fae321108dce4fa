import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';

/** Why a provider sign-in failed, as reported to the app in `#error=`. */
export type SignInFault =
  | 'access_denied' // the person declined
  | 'invalid_state' // started by another browser or more than ten minutes ago, or already finished
  | 'invalid_response' // the provider's response could not be verified
  | 'email_not_verified' // the provider has no verified email, or the account's email is unverified
  | 'account_disabled'
  | 'temporarily_unavailable' // the provider or a store is unreachable
  | 'server_error';

const details: Readonly<Record<SignInFault, string>> = {
  access_denied: 'The sign-in was declined',
  invalid_state: 'The sign-in took too long or was begun elsewhere: begin again',
  invalid_response: 'Could not validate credentials',
  email_not_verified: 'Email not verified',
  account_disabled: 'Could not validate credentials',
  temporarily_unavailable: 'The provider cannot be reached',
  server_error: 'Internal server error',
};

/** A failed sign-in; a 401 unless it is reported by a redirect. */
export class SignInFailed extends AppError {
  readonly fault: SignInFault;
  /** The account, if known. */
  readonly account: Pick<User, 'id' | 'email'> | null;

  constructor(fault: SignInFault, of: { cause?: unknown; account?: Pick<User, 'id' | 'email'> | null } = {}) {
    super('unauthenticated', details[fault], { cause: of.cause });
    this.fault = fault;
    this.account = of.account ?? null;
  }
}
