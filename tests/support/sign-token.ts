import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, SignJWT, type JWTHeaderParameters, type JWTPayload } from 'jose';
import { testStack, type TestStack } from './stack.ts';

/** The signing secret of the installation, of the shared stack by default. */
export function stackSecret({ env }: Pick<TestStack, 'env'> = testStack()): Uint8Array {
  return new TextEncoder().encode(
    env['JWT_SECRET'] ?? readFileSync(join(env['DATA_DIR']!, 'jwt.secret'), 'utf8').trim(),
  );
}

/**
 * An access token derived from an issued one and signed like the stack's; the arguments replace claims and header
 * fields, and undefined removes them.
 */
export function signLike(
  token: string,
  claims: Readonly<Record<string, unknown>>,
  header: Partial<JWTHeaderParameters> = {},
  key = stackSecret(),
): Promise<string> {
  const all = JSON.parse(JSON.stringify({ ...decodeJwt(token), ...claims })) as JWTPayload;
  return new SignJWT(all).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', ...header }).sign(key);
}
