import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { errors, jwtVerify, SignJWT } from 'jose';

/** Access tokens are valid for 24 hours, refresh tokens for 30 days. */
export const accessTokenSeconds = 86_400;
export const refreshTokenMs = 30 * 86_400_000;

const issuer = 'tocsin';
const audience = 'tocsin-api';
const tokenType = 'at+jwt';
const algorithm = 'HS256';

/** The claims of a verified access token. The session determines whether its login is still valid. */
export interface AccessToken {
  readonly userId: string;
  readonly sessionId: string;
  /** Unix time in milliseconds. */
  readonly expiresAt: number;
}

/** The claims of a token to sign. */
export interface IssuedToken {
  readonly userId: string;
  readonly sessionId: string;
  /** Unique per token. */
  readonly id: string;
  /** Unix time in milliseconds. */
  readonly issuedAt: number;
  readonly lifetimeSeconds: number;
}

export interface AccessTokens {
  /** Resolves with the signed token, which is the same for the same arguments. */
  sign(issued: IssuedToken): Promise<string>;
  /** Throws `unauthenticated`: `Token has expired`, or `Could not validate credentials` for any other fault. */
  verify(token: string): Promise<AccessToken>;
}

/** Caches verified tokens, to avoid a signature check per request of a busy caller. */
const verifiedMax = 10_000;

/** Whether a correctly signed token is expired, whatever its other faults: it is not used further. */
function hasEnded(cause: unknown, now: number): boolean {
  if (cause instanceof errors.JWTExpired) return true;
  return (
    cause instanceof errors.JWTClaimValidationFailed &&
    typeof cause.payload.exp === 'number' &&
    cause.payload.exp * 1000 <= now
  );
}

/**
 * Signs with the first secret and verifies with all, so that secrets can be rotated. RFC 9068 format (`typ: at+jwt`).
 */
export function accessTokens(secrets: readonly string[], clock: Clock): AccessTokens {
  const keys = secrets.map((secret) => new TextEncoder().encode(secret));
  const verified = new Map<string, AccessToken>();

  async function check(token: string): Promise<AccessToken> {
    for (const [index, key] of keys.entries()) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [algorithm],
          issuer,
          audience,
          typ: tokenType,
          clockTolerance: 5,
          currentDate: new Date(clock()),
          requiredClaims: ['sub', 'sid', 'exp'],
        });
        return { userId: payload.sub!, sessionId: String(payload['sid']), expiresAt: payload.exp! * 1000 };
      } catch (cause) {
        if (hasEnded(cause, clock())) throw new AppError('unauthenticated', 'Token has expired', { cause });
        const mayBeOlderSecret = cause instanceof errors.JWSSignatureVerificationFailed && index < keys.length - 1;
        if (!mayBeOlderSecret) throw new AppError('unauthenticated', 'Could not validate credentials', { cause });
      }
    }
    throw new AppError('unauthenticated', 'Could not validate credentials');
  }

  return {
    sign({ userId, sessionId, id, lifetimeSeconds, ...issued }) {
      const issuedAt = Math.floor(issued.issuedAt / 1000);
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: algorithm, typ: tokenType })
        .setSubject(userId)
        .setIssuer(issuer)
        .setAudience(audience)
        .setJti(id)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + lifetimeSeconds)
        .sign(keys[0]!);
    },
    async verify(token) {
      const known = verified.get(token);
      if (known !== undefined && known.expiresAt > clock()) return known;
      const result = await check(token);
      verified.set(token, result);
      if (verified.size > verifiedMax) verified.delete(verified.keys().next().value!);
      return result;
    },
  };
}
