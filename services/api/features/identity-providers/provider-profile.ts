import { isEmailAddress } from '@tocsin/shared/domain/accounts/account-rules.ts';
import type { IdentityProvider } from '@tocsin/shared/domain/accounts/identity.ts';

/** The validated claims of a provider about a person. */
export interface ProviderProfile {
  readonly provider: IdentityProvider;
  /** The provider's permanent identifier of the person. */
  readonly subject: string;
  /** The lower-case email if the provider reports it as verified; otherwise null. */
  readonly verifiedEmail: string | null;
  readonly avatarUrl: string | null;
}

const avatarUrlLengthMax = 2_048;

type Claims = Readonly<Record<string, unknown>>;

/**
 * Returns the claims about a person whose ID token lacks the email. The email and `email_verified` are both from
 * UserInfo, so that the ID token does not vouch for the email of another source.
 */
export const claimsOf = (idToken: Claims, userInfo: Claims): Claims => ({
  picture: idToken['picture'],
  ...userInfo,
});

/** Reads the claims of an ID token or of UserInfo (OpenID Connect Core §5.1); `subject` is already verified. */
export function toProfile(provider: IdentityProvider, subject: string, claims: Claims): ProviderProfile {
  const { email, email_verified: isVerified, picture } = claims;
  // Apple sends it as a string.
  const isVouchedFor = isVerified === true || isVerified === 'true';
  const isUsable = typeof email === 'string' && isEmailAddress(email) && isVouchedFor;
  return {
    provider,
    subject,
    verifiedEmail: isUsable ? email.toLowerCase() : null,
    avatarUrl: isWebAddress(picture) ? picture : null,
  };
}

/** A page shows it as an image, so only http(s) URLs are accepted. */
function isWebAddress(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= avatarUrlLengthMax &&
    /^https?:$/.test(URL.parse(value)?.protocol ?? '')
  );
}
