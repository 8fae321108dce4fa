import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { EventSource } from 'eventsource';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole, texts } from '../support/open-console.ts';
import { createAccount, createTopic, type Account } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';
import { useStreams } from '../support/use-streams.ts';

/**
 * A stopping server asks its streams to reconnect within eleven seconds; on a busy machine it takes longer to start.
 */
const patience = { timeoutMs: 60_000 };

const { stack, store } = await useOwnStack({ TRUST_PROXY: '1' }, 'nodes');
const streams = useStreams(() => stack.urls);
let owner: Account;
beforeAll(async () => {
  owner = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
});

const { nodes } = stack;
/** The server of the first URL; with several servers the last URL belongs to another one. */
const server = nodes[0]!;
const lastNode = stack.urls.length - 1;

interface Text {
  readonly topic: string;
  readonly text: string;
}

async function publishAll(all: readonly Text[]): Promise<void> {
  for (const { topic, text } of all) {
    expect((await owner.client.call('POST', `/${topic}`, { text, node: lastNode })).status).toBe(200);
  }
}

test.each([
  ['stopped', () => server.stop()],
  ['killed', () => server.kill()],
])(
  'an EventSource gets every message once and in order across restarts of a server that is %s',
  async (_, end) => {
    const topics = [(await createTopic(owner)).name, (await createTopic(owner, { access_level: 'private' })).name];
    const textsOf = (when: string): Text[] =>
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
      await eventually(() => recovered.length === 1, patience);
      const expected: Text[] = [];
      const publishAndExpect = async (when: string) => {
        await publishAll(textsOf(when));
        expected.push(...textsOf(when));
      };
      // In the first round there are no earlier messages: the client only knows its start position.
      for (const round of [0, 1]) {
        await end();
        if (lastNode > 0) await publishAndExpect(`while the node is down, ${round}`);
        await server.start();
        await publishAndExpect(`when it is back, ${round}`);
        await eventually(() => expect(seen.length).toBeGreaterThanOrEqual(expected.length), patience);
        await publishAndExpect(`live, ${round}`);
        await eventually(() => expect(seen.length).toBeGreaterThanOrEqual(expected.length), patience);
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
  expect(await server.stop()).toBe(0);
  expect([(await ws.ended).code, (await wsOfSeveral.ended).code]).toEqual([1012, 1012]);
  for (const stream of [sse, several]) {
    await stream.ended;
    expect(stream.text()).toMatch(/\n\nretry: \d{4,5}\n\n$/);
  }
  await server.start();
});

/** A new account: its window starts with the first publish, and a restart may take a good part of it. */
async function newPublisher() {
  const account = await createAccount(store, { urls: stack.urls });
  const { name } = await createTopic(account);
  return {
    remaining: async () => (await account.client.call('GET', '/api/users/me')).headers.get('x-ratelimit-remaining'),
    publish: (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          account.client.call('POST', `/${name}`, { text: 'x', node: index }),
        ),
      ),
  };
}

test('rate limits survive a SIGKILL of every node right after a response', async () => {
  const { publish, remaining } = await newPublisher();
  for (const { status } of await publish(4)) expect(status).toBe(200);
  await Promise.all(nodes.map((node) => node.kill()));
  await Promise.all(nodes.map((node) => node.start()));
  expect(await remaining()).toBe('6');
  const answers = await publish(10);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(6);
});

test('rate limits survive a regular stop of every node', async () => {
  const { publish, remaining } = await newPublisher();
  for (const { status } of await publish(10)) expect(status).toBe(200);
  await Promise.all(nodes.map((node) => node.stop()));
  await Promise.all(nodes.map((node) => node.start()));
  expect(await remaining()).toBe('0');
  expect((await publish(1))[0]!.status).toBe(429);
});

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const chromium = useChromium(() => stack.urls[0]!);
  const state = (page: Page, text: RegExp) =>
    page.getByRole('status').filter({ hasText: text }).waitFor({ timeout: patience.timeoutMs });

  test('two browsers show each message once and in order, across a SIGKILL of their server', async () => {
    const author = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    const { name } = await createTopic(author);
    /** Resolves when the server acknowledged the message, which takes retries while it is down. */
    const publish = (text: string) => {
      const headers = { 'Idempotency-Key': randomUUID() };
      return eventually(async () => {
        const { status } = await author.client.call('POST', `/${name}`, { text, headers, node: lastNode });
        expect(status).toBe(200);
      }, patience);
    };
    const path = `/console/topics/${name}`;
    chromium.expectRefusals();
    await publish('stored before');
    const browsers = [await openConsole(chromium, author, path), await chromium.open(path)];
    const all = (act: (page: Page) => Promise<unknown>) => Promise.all(browsers.map(act));
    await all((page) => state(page, /^live$/));
    await publish('live before');
    await all((page) => eventually(async () => expect(await texts(page)).toContain('live before')));

    await publish('acknowledged last');
    await server.kill();
    const meanwhile = publish('while it is down');
    await all((page) => state(page, /^reconnecting …$/));
    if (stack.engine === 'cluster') await meanwhile;
    await server.start();
    await meanwhile;

    await all((page) => state(page, /^live$/));
    await publish('live after');
    const expected = ['live after', 'while it is down', 'acknowledged last', 'live before', 'stored before'];
    await all((page) => eventually(async () => expect(await texts(page)).toEqual(expected), patience));
  }, 180_000);
});
