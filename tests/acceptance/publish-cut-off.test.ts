import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { Client, createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const repetitions = Number(process.env['TOCSIN_CUTS'] ?? 6);
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Where a publisher's connection ends, as the bytes sent until then. */
const cuts: Record<string, { isWhole: boolean; sent: (head: string, body: string) => string }> = {
  'after the headers': { isWhole: false, sent: (head, body) => `${head}Content-Length: ${body.length}\r\n\r\n` },
  'in the body': {
    isWhole: false,
    sent: (head, body) => `${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, -5)}`,
  },
  'between two chunks of the body': {
    isWhole: false,
    sent: (head, body) => `${head}Transfer-Encoding: chunked\r\n\r\n${chunk(body)}`,
  },
  'after the body, before the response': {
    isWhole: true,
    sent: (head, body) => `${head}Content-Length: ${body.length}\r\n\r\n${body}`,
  },
};

interface Publish {
  readonly topic: string;
  readonly text: string;
  readonly key: string | undefined;
  readonly address: string;
  readonly node: number;
}

/** Sends this part of a publish and closes the connection with FIN or RST, immediately or within a few milliseconds. */
async function sendCutOff(
  { topic, text, key, address, node }: Publish,
  sent: (head: string, body: string) => string,
): Promise<void> {
  const { urls } = testStack();
  const { hostname, port } = new URL(urls[node % urls.length]!);
  const socket = connect({ host: hostname, port: Number(port) }).on('error', () => undefined);
  const head = [
    `POST /${topic} HTTP/1.1`,
    `Host: ${hostname}`,
    `X-Forwarded-For: ${address}`,
    ...(key === undefined ? [] : [`Idempotency-Key: ${key}`]),
  ];
  await new Promise((resolve) => socket.write(sent(`${head.join('\r\n')}\r\n`, text), resolve));
  await pause(Math.random() * 8);
  if (Math.random() < 0.5) socket.destroy();
  else socket.resetAndDestroy();
}

/** Retries with the key until the response is 200. Resolves with the number of 409 responses. */
async function sendAgain({ topic, text, key, address, node }: Publish): Promise<{ waits: number; isReplay: boolean }> {
  for (let waits = 0; waits < 100; waits += 1) {
    const headers = { 'Idempotency-Key': key!, 'X-Forwarded-For': address };
    const answer = await new Client().call('POST', `/${topic}`, { text, headers, node: node + waits + 1 });
    if (answer.status === 200) return { waits, isReplay: answer.headers.get('idempotency-replayed') === 'true' };
    expect(answer).toMatchObject({ status: 409, body: { detail: 'Request in progress' } });
    await pause(100);
  }
  throw new Error('the key stayed in flight');
}

async function copiesOf({ topic, text }: Publish): Promise<number> {
  const { body } = await new Client().call('GET', `/${topic}/json?since=all&limit=100`);
  return body.messages.filter(({ message }: { message: string }) => message === text).length;
}

test.each(Object.entries(cuts))(
  'a publish that is cut off %s and retried with its key stores one message',
  async (name, { isWhole, sent }) => {
    const topic = (await createTopic(await stack.person())).name;
    const publishes = Array.from({ length: repetitions }, (_, node) => ({
      topic,
      text: `text ${randomUUID()}`,
      key: randomUUID(),
      address: newAddress(),
      node,
    }));
    const again = await Promise.all(
      publishes.map(async (publish) => {
        await sendCutOff(publish, sent);
        return sendAgain(publish);
      }),
    );
    expect(await Promise.all(publishes.map(copiesOf))).toEqual(publishes.map(() => 1));
    // An incomplete request leaves nothing behind, not even a key in flight.
    if (!isWhole) expect(again).toEqual(publishes.map(() => ({ waits: 0, isReplay: false })));
    printMeasurements(`publish cut off ${name}`, {
      engine: testStack().engine,
      publishes: repetitions,
      replays: again.filter(({ isReplay }) => isReplay).length,
    });
  },
);

test.each(Object.entries(cuts))(
  'a publish that is cut off %s without a key stores at most one message, and none if incomplete',
  async (_, { isWhole, sent }) => {
    const topic = (await createTopic(await stack.person())).name;
    const publishes = Array.from({ length: repetitions }, (_, node) => ({
      topic,
      text: `text ${randomUUID()}`,
      key: undefined,
      address: newAddress(),
      node,
    }));
    await Promise.all(publishes.map((publish) => sendCutOff(publish, sent)));
    // One later publish per node: by then the earlier ones have written to the log.
    for (const [node] of testStack().urls.entries())
      expect((await new Client().call('POST', `/${topic}`, { text: 'behind them', node })).status).toBe(200);
    const { body } = await new Client().call('GET', `/${topic}/json?since=all&limit=100`);
    const texts = (body.messages as { message: string }[])
      .map(({ message }) => message)
      .filter((text) => text !== 'behind them');
    const possible = publishes.map(({ text }) => text);
    expect(texts.filter((text) => !possible.includes(text))).toEqual([]);
    expect(new Set(texts).size).toBe(texts.length);
    if (!isWhole) expect(texts).toEqual([]);
  },
);
