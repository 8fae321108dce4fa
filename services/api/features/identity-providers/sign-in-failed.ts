import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';

/** Why a sign-in through a provider came to nothing, as the app is told it in `#error=`. */
export type SignInFault =
  | 'access_denied' // the person said no
  | 'invalid_state' // begun by another browser, longer than ten minutes ago, or finished already
  | 'invalid_response' // what the provider sent proves nothing
  | 'email_not_verified' // the provider vouches for no address, or the account's own waits for its verification
  | 'account_disabled'
  | 'temporarily_unavailable' // the provider or a store cannot be reached
  | 'server_error';

const details: Readonly<Record<SignInFault, string>> = {
  access_denied: 'The provider was not allowed to tell who you are',
  invalid_state: 'The sign-in took too long or was begun elsewhere: begin again',
  invalid_response: 'Could not validate credentials',
  email_not_verified: 'Email not verified',
  account_disabled: 'Could not validate credentials',
  temporarily_unavailable: 'The provider cannot be reached',
  server_error: 'Internal server error',
};

/** A sign-in that failed; answered as a 401 where it is not told by a redirect. */
export class SignInFailed extends AppError {
  readonly fault: SignInFault;
  /** Whose sign-in it was, where that is known. */
  readonly account: Pick<User, 'id' | 'email'> | null;

  constructor(fault: SignInFault, of: { cause?: unknown; account?: Pick<User, 'id' | 'email'> | null } = {}) {
    super('unauthenticated', details[fault], { cause: of.cause });
    this.fault = fault;
    this.account = of.account ?? null;
  }
}
