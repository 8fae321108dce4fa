import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { EventSource } from 'eventsource';
import { createAccount, createTopic, type Account } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';
import { useStreams } from '../support/use-streams.ts';

/**
 * A stopping server asks its streams to reconnect within eleven seconds; on a busy machine it takes longer to start.
 */
const patienceMs = 60_000;

const { stack, store } = await useOwnStack({ RATE_LIMITS: 'off' }, 'nodes');
const streams = useStreams(() => stack.urls);
let owner: Account;
beforeAll(async () => {
  owner = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
});

/** The server of the first URL; with several servers the last URL belongs to another one. */
const server = () => stack.server(stack.engine === 'embedded' ? 'tocsin' : 'api1');
const lastNode = () => stack.urls.length - 1;

interface Text {
  readonly topic: string;
  readonly text: string;
}

async function publish(texts: readonly Text[]): Promise<void> {
  for (const { topic, text } of texts) {
    expect((await owner.client.call('POST', `/${topic}`, { text, node: lastNode() })).status).toBe(200);
  }
}

test.each([
  ['stopped', () => server().stop()],
  ['killed', () => server().kill()],
])(
  'an EventSource gets every message once and in order across restarts of a server that is %s',
  async (_, end) => {
    const topics = [(await createTopic(owner)).name, (await createTopic(owner, { access_level: 'private' })).name];
    const texts = (when: string): Text[] =>
      topics.flatMap((topic, at) => [1, 2, 3].map((number) => ({ topic, text: `${when} ${at} ${number}` })));
    const session = await owner.client.call('POST', '/api/sse/sessions', { json: { topics } });
    const source = new EventSource(`${stack.urls[0]!}/sse?session=${session.body.session_id}`);
    const [seen, recovered]: [Text[], unknown[]] = [[], []];
    source.addEventListener('ready', ({ data }) =>
      recovered.push((JSON.parse(data as string) as { recovered?: boolean }).recovered),
    );
    source.addEventListener('message', ({ data }) => {
      const { topic, message } = JSON.parse(data as string) as { topic: string; message: string };
      seen.push({ topic, text: message });
    });
    try {
      await eventually(() => recovered.length === 1, { timeoutMs: patienceMs });
      const expected: Text[] = [];
      const publishAndExpect = async (when: string) => {
        await publish(texts(when));
        expected.push(...texts(when));
      };
      // In the first round there are no earlier messages: the client only knows its start position.
      for (const round of [0, 1]) {
        await end();
        if (lastNode() > 0) await publishAndExpect(`while the node is down, ${round}`);
        await server().start();
        await publishAndExpect(`when it is back, ${round}`);
        await eventually(() => expect(seen.length).toBeGreaterThanOrEqual(expected.length), { timeoutMs: patienceMs });
        await publishAndExpect(`live, ${round}`);
        await eventually(() => expect(seen.length).toBeGreaterThanOrEqual(expected.length), { timeoutMs: patienceMs });
      }
      const ofTopic =
        (name: string) =>
        ({ topic }: Text) =>
          topic === name;
      for (const name of topics) expect(seen.filter(ofTopic(name))).toEqual(expected.filter(ofTopic(name)));
      expect(recovered).toEqual([undefined, true, true]);
    } finally {
      source.close();
    }
  },
  300_000,
);

test('a stopping server closes WebSockets with 1012 and sends event streams a reconnection time', async () => {
  const { name } = await createTopic(owner);
  const [sse, several, ws, wsOfSeveral] = [
    await streams.sse(`/${name}/sse`),
    await streams.sse(`/sse?topics=${name}`),
    await streams.ws(`/${name}/ws`),
    await streams.ws(`/ws?topics=${name}`),
  ];
  for (const stream of [sse, several, ws, wsOfSeveral]) await stream.ready();
  expect(await server().stop()).toBe(0);
  expect([(await ws.ended).code, (await wsOfSeveral.ended).code]).toEqual([1012, 1012]);
  for (const stream of [sse, several]) {
    await stream.ended;
    expect(stream.text()).toMatch(/\n\nretry: \d{4,5}\n\n$/);
  }
  await server().start();
});
