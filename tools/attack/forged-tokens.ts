import { createHmac, randomUUID } from 'node:crypto';
import { send, type Attack } from './target.ts';

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const claims = {
  sub: randomUUID(),
  sid: randomUUID(),
  iss: 'tocsin',
  aud: 'tocsin',
  jti: 'x',
  iat: 1,
  exp: 9_999_999_999,
};
const weakKeys = ['', 'secret', 'tocsin', 'changeme', '\0'.repeat(32)];

function signed(header: object, payload: object, key: string): string {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

/** Tokens without a signature, with guessed keys, foreign keys in the header, and malformed parts. */
function forgeries(): string[] {
  const unsigned = ['none', 'None', 'NONE', 'nOnE', ''].map(
    (alg) => `${encode({ alg, typ: 'at+jwt' })}.${encode(claims)}.`,
  );
  const headers = [
    { alg: 'HS256', typ: 'at+jwt' },
    { alg: 'HS256', typ: 'JWT' },
    { alg: 'HS256', typ: 'at+jwt', kid: '../../dev/null' },
    { alg: 'HS256', typ: 'at+jwt', jku: 'https://attacker.example/keys' },
    { alg: 'HS256', typ: 'at+jwt', jwk: { kty: 'oct', k: '' } },
    { alg: 'HS256', typ: 'at+jwt', crit: ['exp'] },
    { alg: 'RS256', typ: 'at+jwt' },
    { alg: ['HS256'], typ: 'at+jwt' },
  ];
  const payloads = [claims, { ...claims, exp: undefined }, { ...claims, sub: { $ne: null } }, { ...claims, exp: 1 }];
  const guessed = headers.flatMap((header) =>
    payloads.flatMap((payload) => weakKeys.map((key) => signed(header, payload, key))),
  );
  const malformed = [
    '',
    '.',
    '..',
    '...',
    'a.b.c',
    `${encode({})}.${encode({})}.x`,
    'toc_',
    'tk_',
    `${'a'.repeat(20_000)}.b.c`,
  ];
  return [...unsigned, ...guessed, ...malformed];
}

/** Uses forged access tokens in every place of a credential. Each must be refused with 401. */
export const forgedTokens: Attack = {
  name: 'forged tokens',
  async run(target) {
    const tokens = forgeries();
    const faults = new Set<string>();
    let requests = 0;
    for (const token of tokens) {
      const places = [
        { path: '/auth/me', headers: { Authorization: `Bearer ${token}` } },
        { path: '/auth/me', headers: { Authorization: `Basic ${Buffer.from(`:${token}`).toString('base64')}` } },
        { path: `/sse?topics=x&token=${encodeURIComponent(token)}` },
        { path: `/auth/me?auth=${Buffer.from(`Bearer ${token}`).toString('base64url')}` },
      ];
      for (const place of token.length > 10_000 ? places.slice(0, 1) : places) {
        const { status } = await send(target, place);
        requests += 1;
        // An empty token counts as absent: the topic of the stream does not exist.
        const isRefused = status === 401 || status === 429 || (token === '' && status === 404);
        if (!isRefused) faults.add(`${place.path.split('?')[0]}: ${status} for ${token.slice(0, 60)}`);
      }
    }
    return { figures: { tokens: tokens.length, requests }, faults: [...faults].slice(0, 10) };
  },
};
