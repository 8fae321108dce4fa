import { isEmailAddress } from '@tocsin/shared/domain/accounts/account-rules.ts';
import type { IdentityProvider } from '@tocsin/shared/domain/accounts/identity.ts';

/** What a provider says of a person, checked and in our terms. */
export interface ProviderProfile {
  readonly provider: IdentityProvider;
  /** The provider's own name for the person, which never changes. */
  readonly subject: string;
  /** The address, lower-cased, if the provider gave one and calls it verified; else null. */
  readonly verifiedEmail: string | null;
  readonly avatarUrl: string | null;
}

const avatarUrlLengthMax = 2_048;

/** Reads the claims of an ID token or of UserInfo (OpenID Connect Core §5.1); `subject` was proven before. */
export function toProfile(
  provider: IdentityProvider,
  subject: string,
  claims: Readonly<Record<string, unknown>>,
): ProviderProfile {
  const { email, email_verified: isVerified, picture } = claims;
  // Apple sends it as a text.
  const isVouchedFor = isVerified === true || isVerified === 'true';
  const isUsable = typeof email === 'string' && isEmailAddress(email) && isVouchedFor;
  return {
    provider,
    subject,
    verifiedEmail: isUsable ? email.toLowerCase() : null,
    avatarUrl: isWebAddress(picture) ? picture : null,
  };
}

/** A page shows it as a picture: nothing but a web address may come in. */
function isWebAddress(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= avatarUrlLengthMax &&
    /^https?:$/.test(URL.parse(value)?.protocol ?? '')
  );
}
