import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';

export interface AppleKeys {
  /** For APPLE_JWKS_URL. */
  readonly url: string;
  /** For APPLE_ISSUER and APPLE_CLIENT_ID. */
  readonly issuer: string;
  readonly clientId: string;
  /** Signs an identity token like Apple. The claims replace the defaults; undefined removes a claim. */
  sign(claims: JWTPayload, header?: { kid?: string; alg?: string }): Promise<string>;
  close(): Promise<void>;
}

const keyId = 'a-key-of-the-tests';

/** Serves Apple's public keys on a free local port, and signs identity tokens. */
export async function startAppleKeys(): Promise<AppleKeys> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const key = { ...(await exportJWK(publicKey)), kid: keyId, alg: 'RS256', use: 'sig' };
  const server = createServer((_request, response) =>
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: [key] })),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = 'https://apple.example';
  const clientId = 'org.example.tocsin';
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/auth/keys`,
    issuer,
    clientId,
    sign(claims, header = {}) {
      const now = Math.floor(Date.now() / 1_000);
      const all = { iss: issuer, aud: clientId, iat: now, exp: now + 600, ...claims };
      // Undefined values must not become claims.
      return new SignJWT(JSON.parse(JSON.stringify(all)) as JWTPayload)
        .setProtectedHeader({ alg: 'RS256', kid: keyId, ...header })
        .sign(privateKey);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
