import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { mailedLink } from '../support/mailbox.ts';
import { newRegistration, register } from '../support/registration.ts';
import { Client, createTopic, newTopicName, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
/** Each node handles more than one of the requests while the first is still being processed. */
const atOnce = 8;
/** One round may not hit the race. */
const rounds = 3;

/** Sends the request concurrently, alternating between nodes. */
type Send = (node: number) => Promise<Answer>;

const by =
  ({ client }: Person, method: string, path: string, json?: object): Send =>
  (node) =>
    client.call(method, path, json === undefined ? { node } : { json, node });
const byNobody =
  (method: string, path: string, json?: object): Send =>
  (node) =>
    new Client().call(method, path, json === undefined ? { node } : { json, node });

/** A response as this test compares it: the status with the error detail or the redirect target. */
function told({ status, body, headers }: Answer): string {
  const outcome = headers.get('location')?.split('?')[1];
  return [status, body?.detail ?? outcome ?? ''].join(' ').trim();
}

async function ownedTeam(members: Person[] = []) {
  const owner = await stack.person({ tier: 'TEAM' });
  return {
    owner,
    id: await stack.team(
      owner,
      members.map((member) => [member, 'member']),
    ),
  };
}

async function invited() {
  const [{ owner, id }, person] = [await ownedTeam(), await stack.person()];
  const invite = (await owner.post(`/api/teams/${id}/invites`, { email: person.email, role: 'member' })).body as {
    id: string;
  };
  return { owner, id, person, invite };
}

async function subscribed() {
  const [person, topic] = [await stack.person(), await createTopic(await stack.person())];
  return { person, topic, id: (await person.post('/api/subscriptions', { topic_name: topic.name })).body.id as string };
}

/** The response to the first request and the response to the others. */
const oneIsDone: readonly (readonly [string, string, string, () => Promise<Send>])[] = [
  [
    'a verification',
    '302 status=success',
    '302 status=error&message=Invalid%20or%20used%20token',
    async () => {
      const registration = newRegistration();
      await register(registration);
      const link = await mailedLink(registration.email, 'verify-email');
      return byNobody('GET', link.pathname + link.search);
    },
  ],
  [
    'creating a team',
    '201',
    '409 Team name already exists',
    async () =>
      by(await stack.person({ tier: 'TEAM' }), 'POST', '/api/teams', {
        name: `t-${randomUUID().slice(0, 13)}`,
        display_name: 'A team',
      }),
  ],
  [
    'removing a member',
    '204',
    '404 Member not found',
    async () => {
      const member = await stack.person();
      const { owner, id } = await ownedTeam([member]);
      return by(owner, 'DELETE', `/api/teams/${id}/members/${member.id}`);
    },
  ],
  [
    'deleting a team',
    '204',
    '404 Team not found',
    async () => {
      const { owner, id } = await ownedTeam([await stack.person()]);
      await createTopic(owner, { team_id: id });
      return by(owner, 'DELETE', `/api/teams/${id}`);
    },
  ],
  [
    'an invitation',
    '201',
    '409 Already invited',
    async () => {
      const { owner, id } = await ownedTeam();
      return by(owner, 'POST', `/api/teams/${id}/invites`, { email: newRegistration().email, role: 'member' });
    },
  ],
  [
    'accepting an invite',
    '200',
    '400 Invalid or used token',
    async () => {
      const { person } = await invited();
      const token = (await mailedLink(person.email, 'team-invite')).hash.slice('#token='.length);
      return by(person, 'POST', '/api/teams/invites/accept', { token });
    },
  ],
  [
    'cancelling an invite',
    '204',
    '404 Invite not found',
    async () => {
      const { owner, invite } = await invited();
      return by(owner, 'DELETE', `/api/teams/invites/${invite.id}`);
    },
  ],
  [
    'a subscription',
    '201',
    '409 Already subscribed',
    async () =>
      by(await stack.person(), 'POST', '/api/subscriptions', {
        topic_name: (await createTopic(await stack.person())).name,
      }),
  ],
  [
    'deleting a subscription by ID',
    '204',
    '404 Subscription not found',
    async () => {
      const { person, id } = await subscribed();
      return by(person, 'DELETE', `/api/subscriptions/${id}`);
    },
  ],
  [
    'deleting a subscription by topic',
    '204',
    '404 Subscription not found',
    async () => {
      const { person, topic } = await subscribed();
      return by(person, 'DELETE', `/api/subscriptions/by-topic/${topic.name}`);
    },
  ],
  [
    'creating a topic',
    '201',
    '409 Topic name already exists',
    async () => by(await stack.person(), 'POST', '/api/topics', { name: newTopicName() }),
  ],
  [
    'deleting a topic',
    '204',
    '404 Topic not found',
    async () => {
      const owner = await stack.person();
      return by(owner, 'DELETE', `/api/topics/${(await createTopic(owner)).id}`);
    },
  ],
  [
    'deleting a key',
    '204',
    '404 API key not found',
    async () => {
      const owner = await stack.person();
      return by(owner, 'DELETE', `/api/keys/${(await owner.post('/api/keys', { name: 'k' })).body.id}`);
    },
  ],
  [
    'deleting a topic token',
    '204',
    '404 Access token not found',
    async () => {
      const owner = await stack.person();
      const path = `/api/topics/${(await createTopic(owner)).name}/access-tokens`;
      return by(owner, 'DELETE', `${path}/${(await owner.post(path, { name: 't', permissions: ['read'] })).body.id}`);
    },
  ],
  [
    'deleting a device',
    '204',
    '404 Device not found',
    async () => {
      const owner = await stack.person();
      const { id } = (
        await owner.post('/api/devices/register', { push_token: randomUUID(), platform: 'ios', device_id: 'd' })
      ).body;
      return by(owner, 'DELETE', `/api/devices/${id}`);
    },
  ],
  [
    'deleting a consumer',
    '204',
    '404 Consumer not found',
    async () => {
      const owner = await stack.person();
      const path = `/api/topics/${(await createTopic(owner)).name}/consumers/c`;
      await owner.put(path, { offset: 0 });
      return by(owner, 'DELETE', path);
    },
  ],
];

test.each(oneIsDone)('%s concurrently returns %s once and "%s" otherwise', async (_what, done, late, arrange) => {
  for (let round = 0; round < rounds; round += 1) {
    const send = await arrange();
    const answers = await Promise.all(Array.from({ length: atOnce }, (_, node) => send(node)));
    expect(answers.map(told).sort()).toEqual([done, ...Array<string>(atOnce - 1).fill(late)].sort());
  }
});

/** The response to every request, and how many rounds hit the race. */
const allAreDone: readonly (readonly [string, string, () => Promise<Send>, number?])[] = [
  // Each round does: hashing the password takes longer than the checks of all requests before it.
  ['a registration', '201', async () => byNobody('POST', '/auth/register', newRegistration()), 1],
  [
    'revoking a key',
    '200',
    async () => {
      const owner = await stack.person();
      return by(owner, 'POST', `/api/keys/${(await owner.post('/api/keys', { name: 'k' })).body.id}/revoke`);
    },
  ],
  [
    'changing a topic',
    '200',
    async () => {
      const owner = await stack.person();
      return by(owner, 'PATCH', `/api/topics/${(await createTopic(owner)).id}`, {
        name: newTopicName(),
        access_level: 'private',
        description: 'd',
      });
    },
  ],
  [
    'changing an account',
    '200',
    async () =>
      by(await stack.person(), 'PATCH', '/api/users/me', {
        username: newRegistration().username,
        email: newRegistration().email,
      }),
  ],
  [
    "changing a member's role",
    '200',
    async () => {
      const member = await stack.person();
      const { owner, id } = await ownedTeam([member]);
      return by(owner, 'PATCH', `/api/teams/${id}/members/${member.id}`, { role: 'admin' });
    },
  ],
  [
    'resending an invite',
    '204',
    async () => {
      const { owner, invite } = await invited();
      return by(owner, 'POST', `/api/teams/invites/${invite.id}/resend`);
    },
  ],
  [
    "changing a device's push token",
    '200',
    async () => {
      const owner = await stack.person();
      const { id } = (
        await owner.post('/api/devices/register', { push_token: randomUUID(), platform: 'ios', device_id: 'd' })
      ).body;
      return by(owner, 'PUT', `/api/devices/${id}`, { push_token: randomUUID() });
    },
  ],
  [
    "setting a consumer's offset",
    '200',
    async () => {
      const owner = await stack.person();
      return by(owner, 'PUT', `/api/topics/${(await createTopic(owner)).name}/consumers/c`, { offset: 1 });
    },
  ],
];

test.each(allAreDone)('%s concurrently returns %s for every request', async (_what, done, arrange, count = rounds) => {
  for (let round = 0; round < count; round += 1) {
    const send = await arrange();
    const answers = await Promise.all(Array.from({ length: atOnce }, (_, node) => send(node)));
    expect(answers.map(told)).toEqual(Array<string>(atOnce).fill(done));
  }
});
