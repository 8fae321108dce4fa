import { AppError, unavailable } from '@tocsin/shared/domain/errors.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { isIssuedTo } from './is-issued-to.ts';
import { toProfile, type ProviderProfile } from './provider-profile.ts';
import { SignInFailed } from './sign-in-failed.ts';

/** Verifies an identity token that an app received from Apple. */
export type AppleIdentityToken = (token: string) => Promise<ProviderProfile>;

const keysTimeoutMs = 5_000;
/** Apple signs with RS256. A fixed list, so that a token cannot choose the algorithm. */
const algorithms = ['RS256', 'ES256'];
const clockToleranceSeconds = 5;

/**
 * Uses the keys at APPLE_JWKS_URL, fetched on demand and cached. Returns null if Apple is not configured.
 * Throws `unauthenticated`: `Token has expired`, or `Could not validate credentials` for any other fault; and
 * `unavailable` while the keys cannot be fetched.
 */
export function appleIdentityToken(config: Config, clock: Clock): AppleIdentityToken | null {
  const { APPLE_CLIENT_ID: audience, APPLE_ISSUER: issuer } = config;
  if (audience === undefined) return null;
  const keys = createRemoteJWKSet(new URL(config.APPLE_JWKS_URL), { timeoutDuration: keysTimeoutMs });
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms,
        audience,
        issuer,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(clock()),
        requiredClaims: ['sub', 'exp'],
      });
      if (!isIssuedTo(payload, audience)) throw new SignInFailed('invalid_response');
      return toProfile('apple', payload.sub!, payload);
    } catch (error) {
      throw asAppError(error);
    }
  };
}

function asAppError(error: unknown): Error {
  if (error instanceof errors.JWTExpired) return new AppError('unauthenticated', 'Token has expired', { cause: error });
  if (isAboutKeys(error)) return unavailable('Apple', error);
  return error instanceof errors.JOSEError ? new SignInFailed('invalid_response', { cause: error }) : (error as Error);
}

/**
 * The keys could not be fetched. jose reports an invalid response as a plain JOSEError and rethrows errors of fetch.
 */
function isAboutKeys(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  if (error instanceof errors.JOSEError) return error.code === errors.JOSEError.code;
  return error instanceof TypeError && error.message === 'fetch failed';
}
