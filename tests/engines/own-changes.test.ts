import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, made, newTopicName, testStack, type Account, type Answer } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const rounds = 12;

type Send = (method: string, path: string, json?: object) => Promise<Answer>;

/** Sends requests of the account to the node. */
const at =
  (node: number, { client }: Account): Send =>
  (method, path, json) =>
    client.call(method, path, { node, ...(json === undefined ? {} : { json }) });

/** Keeps the node's caches busy with the path until it is stopped. */
function readAgainAndAgain(read: () => Promise<unknown>): () => Promise<void> {
  let isStopped = false;
  const reading = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!isStopped) await read();
    }),
  );
  return async () => {
    isStopped = true;
    await reading;
  };
}

interface Subject {
  readonly owner: Account;
  readonly topic: { readonly id: string; readonly name: string };
  readonly teamId: string;
}

/** What a request changes, and how a read on the same node shows it. */
const changes: readonly [
  string,
  (send: Send, of: Subject) => Promise<Answer>,
  { readonly team_id?: null; readonly [field: string]: unknown },
][] = [
  [
    'a description',
    (send, { topic }) => send('PATCH', `/api/topics/${topic.id}`, { description: 'new' }),
    { description: 'new' },
  ],
  [
    'an access level',
    (send, { topic }) => send('PATCH', `/api/topics/${topic.id}`, { access_level: 'private' }),
    { access_level: 'private' },
  ],
  [
    'the deletion of a team',
    (send, { teamId }) => send('DELETE', `/api/teams/${teamId}`),
    { team_id: null, access_level: 'private' },
  ],
];

test.each(changes)(
  'a read after %s shows it, on the same node immediately, on others within two seconds',
  async (_, change, shown) => {
    const owner = await stack.person({ tier: 'TEAM' });
    const nodes = testStack().urls.length;
    for (let round = 0; round < rounds; round += 1) {
      const node = round % nodes;
      const [here, elsewhere] = [at(node, owner), at(node + 1, owner)];
      const team = await made(
        here('POST', '/api/teams', { name: newTopicName().slice(0, 40), display_name: 'Changes' }),
      );
      const topic = await createTopic(owner, { team_id: team.id });
      const path = `/api/topics/${topic.name}`;
      const stops = [here, elsewhere].map((send) => readAgainAndAgain(() => send('GET', path)));
      expect((await change(here, { owner, topic, teamId: team.id })).status).toBeLessThan(300);
      const changedAt = performance.now();
      expect((await here('GET', path)).body).toMatchObject(shown);
      await eventually(async () => expect((await elsewhere('GET', path)).body).toMatchObject(shown), { intervalMs: 5 });
      expect(performance.now() - changedAt).toBeLessThan(2_000);
      await Promise.all(stops.map((stop) => stop()));
      if (shown.team_id === undefined) await made(here('DELETE', `/api/teams/${team.id}?delete_topics=1`));
    }
  },
);
