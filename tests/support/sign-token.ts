import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, SignJWT, type JWTHeaderParameters, type JWTPayload } from 'jose';
import { testStack, type TestStack } from './stack.ts';

/** The secret that the installation signs with, the shared stack by default. */
export function stackSecret({ env }: Pick<TestStack, 'env'> = testStack()): Uint8Array {
  return new TextEncoder().encode(
    env['JWT_SECRET'] ?? readFileSync(join(env['DATA_DIR']!, 'jwt.secret'), 'utf8').trim(),
  );
}

/** An access token as the stack signs it, made of one that it gave out; what is given replaces claims and header, undefined takes away. */
export function signLike(
  token: string,
  claims: Readonly<Record<string, unknown>>,
  header: Partial<JWTHeaderParameters> = {},
  key = stackSecret(),
): Promise<string> {
  const all = JSON.parse(JSON.stringify({ ...decodeJwt(token), ...claims })) as JWTPayload;
  return new SignJWT(all).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', ...header }).sign(key);
}
