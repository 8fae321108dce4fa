import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { mailedLink } from '../support/mailbox.ts';
import { newRegistration } from '../support/registration.ts';
import { Client, createTopic, newTopicName, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
/** More than one from each node is under way while the first is decided. */
const atOnce = 8;
/** A race need not show at the first. */
const rounds = 3;

/** Sends it so often at once, to all nodes in turn. */
type Send = (node: number) => Promise<Answer>;

const by =
  ({ client }: Person, method: string, path: string, json?: object): Send =>
  (node) =>
    client.call(method, path, json === undefined ? { node } : { json, node });
const byNobody =
  (method: string, path: string, json?: object): Send =>
  (node) =>
    new Client().call(method, path, json === undefined ? { node } : { json, node });

/** An answer as this test compares it: the status, with what an error or a redirect says. */
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

/** What one of them is told, and what the others are. */
const oneIsDone: readonly (readonly [string, string, string, () => Promise<Send>])[] = [
  [
    'a verification',
    '302 status=success',
    '302 status=error&message=Invalid%20or%20used%20token',
    async () => {
      const registration = newRegistration();
      await new Client().call('POST', '/auth/register', { json: registration });
      const link = await mailedLink(registration.email, 'verify-email');
      return byNobody('GET', link.pathname + link.search);
    },
  ],
  [
    'the creation of a team',
    '201',
    '409 Team name already exists',
    async () =>
      by(await stack.person({ tier: 'TEAM' }), 'POST', '/api/teams', {
        name: `t-${randomUUID().slice(0, 13)}`,
        display_name: 'A team',
      }),
  ],
  [
    'the removal of a member',
    '204',
    '404 Member not found',
    async () => {
      const member = await stack.person();
      const { owner, id } = await ownedTeam([member]);
      return by(owner, 'DELETE', `/api/teams/${id}/members/${member.id}`);
    },
  ],
  [
    'the deletion of a team',
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
    'the acceptance of an invite',
    '200',
    '400 Invalid or used token',
    async () => {
      const { person } = await invited();
      const token = (await mailedLink(person.email, 'team-invite')).hash.slice('#token='.length);
      return by(person, 'POST', '/api/teams/invites/accept', { token });
    },
  ],
  [
    'the cancellation of an invite',
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
    'the end of a subscription by its id',
    '204',
    '404 Subscription not found',
    async () => {
      const { person, id } = await subscribed();
      return by(person, 'DELETE', `/api/subscriptions/${id}`);
    },
  ],
  [
    'the end of a subscription by its topic',
    '204',
    '404 Subscription not found',
    async () => {
      const { person, topic } = await subscribed();
      return by(person, 'DELETE', `/api/subscriptions/by-topic/${topic.name}`);
    },
  ],
  [
    'the creation of a topic',
    '201',
    '409 Topic name already exists',
    async () => by(await stack.person(), 'POST', '/api/topics', { name: newTopicName() }),
  ],
  [
    'the deletion of a topic',
    '204',
    '404 Topic not found',
    async () => {
      const owner = await stack.person();
      return by(owner, 'DELETE', `/api/topics/${(await createTopic(owner)).id}`);
    },
  ],
  [
    'the deletion of a key',
    '204',
    '404 API key not found',
    async () => {
      const owner = await stack.person();
      return by(owner, 'DELETE', `/api/keys/${(await owner.post('/api/keys', { name: 'k' })).body.id}`);
    },
  ],
  [
    'the deletion of a topic token',
    '204',
    '404 Access token not found',
    async () => {
      const owner = await stack.person();
      const path = `/api/topics/${(await createTopic(owner)).name}/access-tokens`;
      return by(owner, 'DELETE', `${path}/${(await owner.post(path, { name: 't', permissions: ['read'] })).body.id}`);
    },
  ],
  [
    'the removal of a device',
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
    'the end of a consumer',
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

test.each(oneIsDone)(
  '%s that is asked for many times at once is a %s once, and then "%s"',
  async (_what, done, late, arrange) => {
    for (let round = 0; round < rounds; round += 1) {
      const send = await arrange();
      const answers = await Promise.all(Array.from({ length: atOnce }, (_, node) => send(node)));
      expect(answers.map(told).sort()).toEqual([done, ...Array<string>(atOnce - 1).fill(late)].sort());
    }
  },
);

/** What all of them are told. */
const allAreDone: readonly (readonly [string, string, () => Promise<Send>])[] = [
  ['a registration', '201', async () => byNobody('POST', '/auth/register', newRegistration())],
  [
    'the revocation of a key',
    '200',
    async () => {
      const owner = await stack.person();
      return by(owner, 'POST', `/api/keys/${(await owner.post('/api/keys', { name: 'k' })).body.id}/revoke`);
    },
  ],
  [
    'a change of a topic',
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
    'a change of an account',
    '200',
    async () =>
      by(await stack.person(), 'PATCH', '/api/users/me', {
        username: newRegistration().username,
        email: newRegistration().email,
      }),
  ],
  [
    "a change of a member's role",
    '200',
    async () => {
      const member = await stack.person();
      const { owner, id } = await ownedTeam([member]);
      return by(owner, 'PATCH', `/api/teams/${id}/members/${member.id}`, { role: 'admin' });
    },
  ],
  [
    'a resend of an invite',
    '204',
    async () => {
      const { owner, invite } = await invited();
      return by(owner, 'POST', `/api/teams/invites/${invite.id}/resend`);
    },
  ],
  [
    'a new push token of a device',
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
    'a position of a consumer',
    '200',
    async () => {
      const owner = await stack.person();
      return by(owner, 'PUT', `/api/topics/${(await createTopic(owner)).name}/consumers/c`, { offset: 1 });
    },
  ],
];

test.each(allAreDone)('%s that is asked for many times at once is a %s for all', async (_what, done, arrange) => {
  for (let round = 0; round < rounds; round += 1) {
    const send = await arrange();
    const answers = await Promise.all(Array.from({ length: atOnce }, (_, node) => send(node)));
    expect(answers.map(told)).toEqual(Array<string>(atOnce).fill(done));
  }
});
