import { importPKCS8, SignJWT } from 'jose';
import type { Credential } from 'firebase-admin/app';
import { z } from 'zod';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { FcmServiceAccount } from '@tocsin/shared/platform/load-config.ts';

const answerSchema = z.object({ access_token: z.string(), expires_in: z.number() });
const refusalSchema = z.object({ error: z.string(), error_description: z.string().optional() });
const timeoutMs = 10_000;

/**
 * Fetches access tokens from the `token_uri` of the service account (RFC 7523). The library's credential always
 * contacts Google, so a simulator needs this one.
 */
export function fcmSimulatorCredential(account: FcmServiceAccount, clock: Clock): Credential {
  return {
    async getAccessToken() {
      const now = Math.floor(clock() / 1_000);
      const assertion = await new SignJWT({ scope: 'https://www.googleapis.com/auth/firebase.messaging' })
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
        .setIssuer(account.client_email)
        .setAudience(account.token_uri)
        .setIssuedAt(now)
        .setExpirationTime(now + 3_600)
        .sign(await importPKCS8(account.private_key, 'RS256'));
      const answer = await fetch(account.token_uri, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      // The same wording as the library's credential.
      if (!answer.ok) throw new Error(describeRefusal(refusalSchema.parse(await answer.json())));
      return answerSchema.parse(await answer.json());
    },
  };
}

function describeRefusal({ error, error_description: description }: z.infer<typeof refusalSchema>): string {
  return description === undefined ? error : `${error}: ${description}`;
}
