import { beforeAll, expect, test } from '@jest/globals';
import { setActive } from '@tocsin/shared/operations/accounts/set-active.ts';
import { testAudit } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { fuzzedRequests } from '../../tools/attack/fuzzed-requests.ts';
import { pipelinedReads } from '../../tools/attack/pipelined-requests.ts';
import { roleMatrix, type Role } from '../../tools/attack/role-matrix.ts';
import { sharedAttacks } from '../../tools/attack/run-attacks.ts';
import { slowSockets } from '../../tools/attack/slow-sockets.ts';
import type { Attack, Target } from '../../tools/attack/target.ts';
import { createAccount, type Account } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

// The attacks of `npm run attack`, with accounts for the roles. Rate limits are off, because most responses would be
// 429. The server collects its garbage at SIGUSR2, so that garbage neither hides nor imitates a leak.
const { stack, store } = await useOwnStack({
  RATE_LIMITS: 'off',
  ADMIN_TOKEN: 'the operator of the attacks',
  NODE_OPTIONS: "--max-old-space-size=320 --expose-gc --import=data:text/javascript,process.on('SIGUSR2',()=>gc())",
});
const target: Target = { url: new URL(stack.urls[0]!), isQuick: true };

async function expectHeld(attack: Attack, running = attack.run(target)): Promise<void> {
  const { figures, faults } = await running;
  process.stdout.write(`${JSON.stringify({ attack: attack.name, ...figures })}\n`);
  expect(faults).toEqual([]);
}

/** Mostly waits for the time-outs of the server, while the other attacks run. */
let slow: ReturnType<Attack['run']>;
beforeAll(() => {
  slow = slowSockets.run(target);
  slow.catch(() => undefined); // the test reports it
});

const values: Record<string, string> = {};
const roles: Role[] = [];
/** Of the account to which the values belong, and of an account without objects. */
const credentials: Record<string, string>[] = [];

beforeAll(async () => {
  const account = () => createAccount(store, { tier: 'TEAM', urls: stack.urls });
  const [owner, member, stranger, disabled] = [await account(), await account(), await account(), await account()];
  const other = await account(); // the matrix ends the logins of the strangers
  const made = async ({ client }: Account, method: string, path: string, json?: object) => {
    const { status, body } = await client.call(method, path, json === undefined ? {} : { json });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const key = async (of: Account) =>
    (await made(of, 'POST', '/api/keys', { name: 'k' })) as { id: string; key: string };
  const topicOf = (of: Account, name: string) => made(of, 'POST', '/api/topics', { name, access_level: 'private' });
  const tokenOf = (of: Account, name: string) =>
    made(of, 'POST', `/api/topics/${name}/access-tokens`, { name: 't', permissions: ['read', 'write'] });

  const topic = await topicOf(owner, 'attacked');
  const { id: messageId } = (await owner.client.call('POST', '/attacked', { text: 'secret' })).body;
  const team = await made(owner, 'POST', '/api/teams', { name: 'attacked', display_name: 'Team' });
  const invite = await made(owner, 'POST', `/api/teams/${team.id}/invites`, { email: 'x@example.org', role: 'member' });
  const teamTopic = await made(owner, 'POST', '/api/topics', { name: 'attacked-team', team_id: team.id });
  const teamSubscription = { topic_name: teamTopic.name, members: 'all' };
  const device = { push_token: 'ExponentPushToken[attacked]', platform: 'expo', device_id: 'd' };
  Object.assign(values, {
    topic: 'attacked',
    name: 'attacked',
    topic_name: 'attacked',
    topic_id: topic.id,
    message_id: messageId,
    key_id: (await key(owner)).id,
    token_id: (await tokenOf(owner, 'attacked')).id,
    team_id: team.id,
    user_id: owner.user.id,
    invite_id: invite.id,
    team_subscription_id: (await made(owner, 'POST', `/api/teams/${team.id}/subscriptions`, teamSubscription)).id,
    device_id: (await made(owner, 'POST', '/api/devices/register', device)).id,
    subscription_id: (await made(owner, 'POST', '/api/subscriptions', { topic_name: 'attacked' })).id,
    session_id: (await made(owner, 'GET', '/auth/sessions'))[0].id,
    consumer: 'c',
    email: owner.email,
  });

  await topicOf(stranger, 'elsewhere');
  const token = await tokenOf(stranger, 'elsewhere');
  const [revoked, valid, ofDisabled] = [await key(stranger), await key(stranger), await key(disabled)];
  await made(stranger, 'POST', `/api/keys/${revoked.id}/revoke`);
  await setActive(store.documents, disabled.email, false, testAudit);
  // The server notices changes by other processes after some seconds.
  await eventually(async () => (await disabled.client.call('GET', '/auth/me')).status === 401);
  const login = (of: Account) => ({ Authorization: `Bearer ${of.client.token}` });
  credentials.push(login(owner), { 'X-API-Key': (await key(owner)).key }, login(other));
  roles.push(
    { name: 'stranger', kind: 'login', headers: login(stranger) },
    { name: 'another stranger', kind: 'login', headers: login(member) },
    { name: 'key of a stranger', kind: 'key', headers: { 'X-API-Key': valid.key } },
    { name: 'key of a stranger as bearer', kind: 'key', headers: { Authorization: `Bearer ${valid.key}` } },
    { name: 'revoked key', kind: 'invalid', headers: { 'X-API-Key': revoked.key } },
    { name: 'disabled account', kind: 'invalid', headers: login(disabled) },
    { name: 'key of a disabled account', kind: 'invalid', headers: { 'X-API-Key': ofDisabled.key } },
    { name: 'token of another topic', kind: 'topic-token', headers: { 'X-Topic-Token': token.token } },
  );
});

test.each(sharedAttacks.filter((attack) => attack !== slowSockets).map((attack) => [attack.name, attack] as const))(
  'the server holds against %s',
  async (_name, attack) => expectHeld(attack),
);

test('the server holds against pipelined reads of history', async () => {
  await expectHeld(pipelinedReads(credentials[0]!));
});

test('no role gets an object without access, on any route', async () => {
  await expectHeld(roleMatrix({ roles, values }));
});

test('the server holds against slow sockets', async () => {
  await expectHeld(slowSockets, slow);
});

/** `npm run attack` sends 100,000, which may add 20 MB. */
const fuzz = { count: 10_000, growthMbMax: 4 };

test('fuzzed requests, most with a credential, get no 5xx, and memory stays flat', async () => {
  const collectGarbage = () => stack.servers.forEach(({ pid }) => process.kill(pid, 'SIGUSR2'));
  await expectHeld(fuzzedRequests({ ...fuzz, collectGarbage, credentials, values }));
}, 300_000);
