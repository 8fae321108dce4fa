import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT, type JWTHeaderParameters } from 'jose';
import { signLike } from '../support/sign-token.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let person: Person;
/** An access token issued by the stack. */
let real: string;
beforeAll(async () => {
  person = await stack.person();
  real = person.client.token!;
});

const wrong = { status: 401, body: { detail: 'Could not validate credentials' } };
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const now = () => Math.floor(Date.now() / 1_000);
const use = (token: string) => stack.caller({ Authorization: `Bearer ${token}` }).get('/auth/me');

// Shows that only the changes below cause the refusals.
test('accepts a token signed like those of the server', async () => {
  expect(await use(await signLike(real, {}))).toMatchObject({ status: 200, body: { id: person.id } });
});

test.each(['none', 'None', 'NONE', 'nOnE', ''])(
  'refuses a token with the algorithm "%s", with or without a signature',
  async (alg) => {
    const unsigned = `${encode({ alg, typ: 'at+jwt' })}.${encode(decodeJwt(real))}.`;
    for (const token of [unsigned, unsigned.slice(0, -1), unsigned + real.split('.')[2]])
      expect(await use(token)).toMatchObject(wrong);
  },
);

test.each(['HS384', 'HS512'])(
  'refuses a token signed with the right secret by %s: tokens do not choose the algorithm',
  async (alg) => {
    expect(await use(await signLike(real, {}, { alg }))).toMatchObject(wrong);
  },
);

test.each(['RS256', 'ES256', 'EdDSA'])(
  "refuses a token signed by %s with the sender's key, wherever its header places the key",
  async (alg) => {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: 'mine', alg, use: 'sig' };
    const headers: Partial<JWTHeaderParameters>[] = [
      {},
      { kid: 'mine' },
      { jwk },
      { jku: 'https://evil.example/keys' },
      { x5u: 'https://evil.example/key.pem' },
      { kid: 'mine', jwk, jku: 'https://evil.example/keys' },
    ];
    for (const header of headers) {
      const token = await new SignJWT(decodeJwt(real))
        .setProtectedHeader({ alg, typ: 'at+jwt', ...header })
        .sign(privateKey);
      expect(await use(token)).toMatchObject(wrong);
    }
  },
);

test('refuses a token with another secret, even if its header contains the secret or names a key', async () => {
  const own = new Uint8Array(randomBytes(32));
  const jwk = { kty: 'oct', k: Buffer.from(own).toString('base64url') };
  const publicPem = new TextEncoder().encode(
    generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ type: 'spki', format: 'pem' }) as string,
  );
  for (const key of [own, publicPem, new Uint8Array(32), new TextEncoder().encode('secret'.padEnd(32, '.'))]) {
    for (const header of [
      {},
      { jwk },
      { kid: '../../dev/null' },
      { kid: "x' UNION SELECT 'secret" },
      { jku: 'https://evil.example/keys' },
    ] as Partial<JWTHeaderParameters>[]) {
      expect(await use(await signLike(real, {}, header, key))).toMatchObject(wrong);
    }
  }
});

test.each<[string, Record<string, unknown>, Partial<JWTHeaderParameters>]>([
  ['another audience', { aud: 'another' }, {}],
  ['no audience', { aud: undefined }, {}],
  ['another issuer', { iss: 'https://evil.example' }, {}],
  ['no issuer', { iss: undefined }, {}],
  ['the type of an identity token', {}, { typ: 'JWT' }],
  ['the type of a pending sign-in', {}, { typ: 'begun-login+jwt' }],
  ['no type', {}, { typ: undefined as unknown as string }],
  ['no subject', { sub: undefined }, {}],
  ['another subject', { sub: randomUUID() }, {}],
  ['no login', { sid: undefined }, {}],
  ['a malformed login ID', { sid: randomUUID() }, {}],
  ['no end', { exp: undefined }, {}],
  ['a malformed expiry', { exp: 'never' }, {}],
  ['a start in the future', { nbf: now() + 600 }, {}],
])('refuses a token with %s', async (_what, claims, header) => {
  expect(await use(await signLike(real, claims, header))).toMatchObject(wrong);
});

test("refuses a token with another account's login", async () => {
  const other = await stack.person();
  expect(await use(await signLike(real, { sid: decodeJwt(other.client.token!)['sid'] }))).toMatchObject(wrong);
  expect(await use(await signLike(real, { sub: other.id }))).toMatchObject(wrong);
});

test('reports an expired token as expired, but not a tampered one', async () => {
  const ended = await signLike(real, { exp: now() - 60 });
  expect(await use(ended)).toMatchObject({ status: 401, body: { detail: 'Token has expired' } });
  // With the right secret the expiry is reported before other faults.
  for (const [claims, header] of [
    [{}, { typ: 'JWT' }],
    [{ iss: undefined, aud: undefined }, {}],
  ]) {
    expect(await use(await signLike(real, { ...claims, exp: now() - 60 }, header))).toMatchObject({
      status: 401,
      body: { detail: 'Token has expired' },
    });
  }
  const [head, , signature] = ended.split('.');
  expect(await use(`${head}.${encode({ ...decodeJwt(real), exp: now() + 600 })}.${signature}`)).toMatchObject(wrong);
  expect(await use(`${real.slice(0, -2)}${real.endsWith('AA') ? 'BB' : 'AA'}`)).toMatchObject(wrong);
});

test('refresh tokens, sessions and cookies are not accepted as access tokens', async () => {
  const { body } = await stack.caller().post('/auth/login', { email: person.email, password: person.password });
  const session = (
    await person.post('/api/sse/sessions', {
      topics: [(await person.post('/api/topics', { name: `f-${randomUUID()}` })).body.name],
    })
  ).body.session_id as string;
  for (const token of [body.refresh_token as string, session]) expect(await use(token)).toMatchObject(wrong);
});
