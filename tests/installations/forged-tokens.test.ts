import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT, type JWTHeaderParameters } from 'jose';
import { signLike } from '../support/sign-token.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let person: Person;
/** An access token that the stack gave out. */
let real: string;
beforeAll(async () => {
  person = await stack.person();
  real = person.client.token!;
});

const wrong = { status: 401, body: { detail: 'Could not validate credentials' } };
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const now = () => Math.floor(Date.now() / 1_000);
const use = (token: string) => stack.caller({ Authorization: `Bearer ${token}` }).get('/auth/me');

// What is changed below is the one reason for its refusal.
test('a token that is signed as the server signs them opens the account', async () => {
  expect(await use(await signLike(real, {}))).toMatchObject({ status: 200, body: { id: person.id } });
});

test.each(['none', 'None', 'NONE', 'nOnE', ''])(
  'a token that names "%s" as its algorithm is refused, with a signature or without',
  async (alg) => {
    const unsigned = `${encode({ alg, typ: 'at+jwt' })}.${encode(decodeJwt(real))}.`;
    for (const token of [unsigned, unsigned.slice(0, -1), unsigned + real.split('.')[2]])
      expect(await use(token)).toMatchObject(wrong);
  },
);

test.each(['HS384', 'HS512'])(
  "a token with the right secret by %s is refused: the algorithm is not the token's to choose",
  async (alg) => {
    expect(await use(await signLike(real, {}, { alg }))).toMatchObject(wrong);
  },
);

test.each(['RS256', 'ES256', 'EdDSA'])(
  'a token signed by %s with a key of the sender is refused, wherever its header says that the key is',
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

test('a token with another secret is refused, also when it brings that along or names a key', async () => {
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
  ['the type of a sign-in that has begun', {}, { typ: 'begun-login+jwt' }],
  ['no type', {}, { typ: undefined as unknown as string }],
  ['no subject', { sub: undefined }, {}],
  ['another subject', { sub: randomUUID() }, {}],
  ['no login', { sid: undefined }, {}],
  ['a login that is none', { sid: randomUUID() }, {}],
  ['no end', { exp: undefined }, {}],
  ['an end that is no time', { exp: 'never' }, {}],
  ['a beginning that is to come', { nbf: now() + 600 }, {}],
])('a token with %s is refused', async (_what, claims, header) => {
  expect(await use(await signLike(real, claims, header))).toMatchObject(wrong);
});

test("a token of another account's login is refused", async () => {
  const other = await stack.person();
  expect(await use(await signLike(real, { sid: decodeJwt(other.client.token!)['sid'] }))).toMatchObject(wrong);
  expect(await use(await signLike(real, { sub: other.id }))).toMatchObject(wrong);
});

test('a token whose end has passed says so, and one that was changed after it was signed does not', async () => {
  const ended = await signLike(real, { exp: now() - 60 });
  expect(await use(ended)).toMatchObject({ status: 401, body: { detail: 'Token has expired' } });
  // With the right secret its end is what is told, whatever else it lacks.
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

test('a refresh token, a session and a cookie are no access tokens', async () => {
  const { body } = await stack.caller().post('/auth/login', { email: person.email, password: person.password });
  const session = (
    await person.post('/api/sse/sessions', {
      topics: [(await person.post('/api/topics', { name: `f-${randomUUID()}` })).body.name],
    })
  ).body.session_id as string;
  for (const token of [body.refresh_token as string, session]) expect(await use(token)).toMatchObject(wrong);
});
