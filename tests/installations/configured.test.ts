import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { setTier } from '@tocsin/shared/operations/accounts/set-tier.ts';
import { testAudit } from '@tocsin/shared/testing/builders.ts';
import { setTeamActive } from '@tocsin/shared/operations/teams/set-team-active.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { decodeJwt, SignJWT } from 'jose';
import { WebSocket } from 'ws';
import { mailsTo } from '../support/mailbox.ts';
import { newRegistration } from '../support/registration.ts';
import { Client, createAccount, createTopic } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

// Effects of configuration values that differ from those of the shared stack.
const [current, former] = ['c'.repeat(32), 'f'.repeat(32)];
const { stack, store } = await useOwnStack({
  BASE_URL: 'https://bell.example/api/',
  APP_URL: 'https://app.example/bell',
  TERMS_VERSION: '2026-11',
  CORS_ORIGINS: 'https://one.example,https://two.example',
  RETENTION_DAYS_FREE: '0.5',
  RETENTION_DAYS_ESSENTIALS: '2',
  RETENTION_DAYS_TEAM: '3.25',
  TEAM_REMOVAL_DAYS: '1.5',
  TEAM_GRACE_DAYS: '0.00002',
  RETENTION_SCHEDULE: '2s',
  JWT_SECRET: `${current},${former}`,
  METRICS_PORT: '0',
});

const account = (tier: 'FREE' | 'ESSENTIALS' | 'TEAM' = 'FREE') => createAccount(store, { tier, urls: stack.urls });
const anyone = () => new Client(undefined, stack.urls);

test('emailed links and redirects lead to BASE_URL and APP_URL', async () => {
  const registration = newRegistration();
  expect((await anyone().call('POST', '/auth/register', { json: registration })).status).toBe(201);
  const link = async (kind: 'verify-email' | 'password-reset') =>
    eventually(async () => {
      const [mail] = await mailsTo(registration.email, kind, stack);
      expect(mail).toBeDefined();
      return /^X-Tocsin-Link: (\S+)\r$/m.exec(mail!)![1]!;
    });
  expect(await link('verify-email')).toMatch(/^https:\/\/bell\.example\/api\/auth\/verify-email\?token=[\w-]{43}$/);
  await anyone().call('POST', '/auth/password-reset/request', { json: { email: registration.email } });
  expect(await link('password-reset')).toMatch(/^https:\/\/app\.example\/bell\/auth\/reset-password#token=[\w-]{43}$/);
  const opened = await anyone().call('GET', '/auth/verify-email?token=x');
  expect(opened.headers.get('location')).toMatch(/^https:\/\/app\.example\/bell\/auth\/verified\?status=error&/);
});

test('scripts of BASE_URL, APP_URL and CORS_ORIGINS may read responses', async () => {
  const allowed = async (origin: string) =>
    (await anyone().call('GET', '/health/live', { headers: { Origin: origin } })).headers.get(
      'access-control-allow-origin',
    );
  for (const origin of ['https://one.example', 'https://two.example', 'https://app.example', 'https://bell.example'])
    expect(await allowed(origin)).toBe(origin);
  for (const origin of ['https://three.example', 'http://one.example']) expect(await allowed(origin)).toBeNull();
});

test('pages of CORS_ORIGINS may open streams, others may not', async () => {
  const { name } = await createTopic(await account());
  const url = `${stack.urls[0]}/${name}`;
  const socketOf = async (origin: string) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { origin });
    const opened = once(socket, 'open').then(() => 101);
    const refused = once(socket, 'unexpected-response').then(
      ([, response]) => (response as IncomingMessage).statusCode,
    );
    const status = await Promise.race([opened, refused]);
    socket.on('error', () => undefined).terminate();
    return status;
  };
  expect(await Promise.all(['https://two.example', 'https://three.example'].map(socketOf))).toEqual([101, 403]);
  const sseOf = async (origin: string) => {
    const controller = new AbortController();
    const { status, headers } = await fetch(`${url}/sse`, { headers: { Origin: origin }, signal: controller.signal });
    controller.abort();
    return [status, headers.get('content-type'), headers.get('access-control-allow-origin')];
  };
  expect(await sseOf('https://two.example')).toEqual([200, 'text/event-stream; charset=utf-8', 'https://two.example']);
  expect(await sseOf('https://three.example')).toEqual([200, 'text/event-stream; charset=utf-8', null]);
});

test("RETENTION_DAYS of the owner's tier determine the expiry of messages", async () => {
  for (const [tier, days] of [
    ['FREE', 0.5],
    ['ESSENTIALS', 2],
    ['TEAM', 3.25],
  ] as const) {
    const owner = await account(tier);
    const { body } = await owner.client.call('POST', `/${(await createTopic(owner)).name}`, { text: 'x' });
    expect(Date.parse(body.expires_at) - Date.parse(body.timestamp)).toBe(days * 86_400_000);
    expect((await owner.client.call('GET', '/api/teams/stats')).body.message_retention_days).toBe(
      Math.max(1, Math.floor(days)),
    );
  }
});

test('a team is removed TEAM_REMOVAL_DAYS after its deactivation', async () => {
  const { client } = await account('TEAM');
  const { body: team } = await client.call('POST', '/api/teams', {
    json: { name: newRegistration().username, display_name: 'A team' },
  });
  await setTeamActive(store.documents, team.id, { isActive: false, now: Date.now() }, testAudit);
  const [{ deactivated_at: from, removal_at: to }] = (await client.call('GET', '/api/teams/deactivated')).body;
  expect(Date.parse(to) - Date.parse(from)).toBe(1.5 * 86_400_000);
});

test('a team is deactivated TEAM_GRACE_DAYS after its owner lost the tier, after a notice to the owner', async () => {
  const [owner, other] = [await account('TEAM'), await account('TEAM')];
  const create = async ({ client }: typeof owner) =>
    (
      await client.call('POST', '/api/teams', {
        json: { name: newRegistration().username, display_name: 'Night crew' },
      })
    ).body.id as string;
  const [id, otherId] = [await create(owner), await create(other)];
  const topic = await createTopic(owner, { team_id: id });
  await setTier(store.documents, owner.email, { tier: 'ESSENTIALS', now: Date.now() }, testAudit);
  await eventually(async () =>
    expect((await owner.client.call('GET', `/api/teams/${id}`)).body).toMatchObject({ is_active: false }),
  );
  expect(await owner.client.call('POST', `/${topic.name}`, { text: 'x' })).toMatchObject({
    status: 403,
    body: { detail: 'Team is deactivated' },
  });
  expect((await other.client.call('GET', `/api/teams/${otherId}`)).body).toMatchObject({ is_active: true });
  const read = async (kind: 'team-lapse' | 'team-removal') =>
    eventually(async () => {
      const mails = await mailsTo(owner.email, kind, stack);
      expect(mails).toHaveLength(1);
      return mails[0]!;
    });
  expect(await read('team-lapse')).toContain('Night crew');
  expect(await read('team-removal')).toContain('Night crew'); // a day and a half is less than seven days
  expect(await owner.client.call('POST', `/api/teams/${id}/reactivate`)).toMatchObject({ status: 403 });
  await setTier(store.documents, owner.email, { tier: 'TEAM', now: Date.now() }, testAudit);
  await eventually(async () =>
    expect(await owner.client.call('POST', `/api/teams/${id}/reactivate`)).toMatchObject({
      status: 200,
      body: { is_active: true },
    }),
  );
});

test('consents record TERMS_VERSION', async () => {
  const { client } = await account();
  const { body } = await client.call('POST', '/auth/accept-terms', {
    json: { accepted: true, consent_method: 'web_checkbox' },
  });
  expect(body.consent.document_version).toBe('2026-11');
});

test('the first JWT_SECRET signs and all of them verify', async () => {
  const { client } = await account();
  const claims = decodeJwt(client.token!);
  const by = async (secret: string) => {
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
      .sign(new TextEncoder().encode(secret));
    return { token, status: (await new Client(token, stack.urls).call('GET', '/auth/me')).status };
  };
  expect((await by(current)).token.split('.')[2]).toBe(client.token!.split('.')[2]);
  expect((await by(former)).status).toBe(200);
  expect((await by('o'.repeat(32))).status).toBe(401);
});

test("without ADMIN_TOKEN the operator's endpoints do not exist", async () => {
  const { email } = await account();
  for (const token of [undefined, 'the-operator-of-the-tests']) {
    const client = new Client(token, stack.urls);
    const json = { tier: 'TEAM' };
    expect(await client.call('PUT', `/admin/users/${email}/tier`, { json })).toMatchObject({
      status: 404,
      body: { detail: 'Not found' },
    });
  }
});

test('with METRICS_PORT the API port serves health but no metrics', async () => {
  // Not with `fetch`: it checks responses against the document of the shared stack, which contains the path.
  const [response] = (await once(get(`${stack.urls[0]}/metrics`), 'response')) as [IncomingMessage];
  expect(JSON.parse(await text(response))).toEqual({ detail: expect.any(String) });
  expect([404, 405]).toContain(response.statusCode);
  expect((await anyone().call('GET', '/health/ready')).status).toBe(200);
});

test('without TRUST_PROXY clients cannot choose their address', async () => {
  const remaining = async () =>
    Number((await anyone().call('GET', '/api/topics/public')).headers.get('x-ratelimit-remaining'));
  // Two clients, each with its own X-Forwarded-For.
  const first = await remaining();
  expect(await remaining()).toBe(first - 1);
});
