import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeWithEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { startClusterStack, startEmbeddedStack, type Stack } from '../../tools/stack/start-stack.ts';
import { Client, createAccount, createTopic, openStackDocuments, type Account } from '../support/stack.ts';

const kills = Number(process.env['TOCSIN_KILLS'] ?? 1);
/**
 * MongoDB blocks the documents of a killed process's transaction until it ends the transaction: a minute by default.
 */
const settledMsMax = 100_000;
const changesPerKill = 25;
const messageCount = 12;
const env = { RATE_LIMITS: 'off', RETENTION_SCHEDULE: '0 0 1 1 *' };

describe('killing an API node while messages change, embedded', () => killTests(() => startEmbeddedStack({ env })));
describeWithEngines(
  'killing an API node while messages change, on a cluster',
  ({ kafkaBrokers, mongoUrl, redisUrl }) => {
    killTests(() => {
      const run = randomBytes(4).toString('hex');
      const database = new URL(mongoUrl);
      database.pathname = `/tocsin_${run}`;
      return startClusterStack({
        kafkaBrokers,
        mongoUrl: database.href,
        redisUrl,
        jwtSecret: randomBytes(32).toString('hex'),
        apiNodes: 1,
        env: { KAFKA_TOPIC: `tocsin.${run}`, KAFKA_PARTITIONS: '2', ...env },
      });
    });
  },
);

/** The acknowledged state of a message, and a change without response that may have happened. */
interface Known {
  readonly id: string;
  text: string;
  isDeleted: boolean;
  maybe: { text: string } | 'deleted' | null;
}

function killTests(start: () => Promise<Stack>): void {
  let own: Closers;
  let stack: Stack;
  let account: Account;
  let topic: { name: string };
  let known: Known[];

  beforeEach(async () => {
    own = closers();
    stack = await start();
    own.add(() => stack.stop());
    const store = await openStackDocuments(stack);
    own.add(() => store.close());
    account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    topic = await createTopic(account);
    known = [];
    for (let index = 0; index < messageCount; index += 1) {
      const { body } = await account.client.call('POST', `/${topic.name}`, { text: `text ${index}` });
      known.push({ id: body.id as string, text: `text ${index}`, isDeleted: false, maybe: null });
    }
  });
  afterEach(() => own.closeAll());

  /** Changes its message repeatedly until the node stops responding, and deletes every seventh. */
  async function keepChanging(one: Known, onChange: () => void): Promise<void> {
    const path = `/api/${topic.name}/messages/${one.id}`;
    for (let turn = 0; !one.isDeleted; turn += 1) {
      const text = `${one.id} ${randomBytes(4).toString('hex')}`;
      one.maybe = turn % 7 === 6 ? 'deleted' : { text };
      const answer =
        one.maybe === 'deleted'
          ? account.client.call('DELETE', path)
          : account.client.call('PATCH', path, { json: { message: text } });
      const { status } = await answer.catch(() => ({ status: 0 }));
      if (status !== 200) return;
      if (one.maybe === 'deleted') one.isDeleted = true;
      else one.text = text;
      one.maybe = null;
      onChange();
    }
  }

  /** Resolves when all records of the log are stored: pages of the log end at a gap. */
  async function settled(): Promise<void> {
    const client = new Client(undefined, stack.urls);
    const { body: marker } = await client.call('POST', `/${topic.name}`, { text: 'marker' });
    await eventually(
      async () => {
        const { body } = await client.call('GET', `/api/topics/${topic.name}/log?from_offset=${marker.offset}`);
        expect(body.records).toHaveLength(1);
      },
      { timeoutMs: settledMsMax },
    );
  }

  test(
    'keeps all acknowledged changes in history and log',
    async () => {
      const server = stack.nodes[0]!;
      for (let round = 0; round < kills; round += 1) {
        const enough = Promise.withResolvers<void>();
        let changes = 0;
        const changing = Promise.all(
          known
            .filter(({ isDeleted }) => !isDeleted)
            .map((one) =>
              keepChanging(one, () => {
                changes += 1;
                if (changes >= changesPerKill) enough.resolve();
              }),
            ),
        );
        await Promise.race([enough.promise, changing]);
        await server.kill();
        await changing;
        await server.start();
        await settled();
        const { body } = await new Client(undefined, stack.urls).call('GET', `/${topic.name}/json?limit=100`);
        const history = new Map(
          (body.messages as { id: string; message: string }[]).map(({ id, message }) => [id, message]),
        );
        for (const one of known) compare(one, history.get(one.id));
        for (const one of known) settleDoubt(one, history.get(one.id));
      }
      const { body } = await new Client(undefined, stack.urls).call('GET', `/api/topics/${topic.name}/log?limit=1000`);
      const records = body.records as {
        offset: number;
        type: string;
        message: { id: string; message: string; is_deleted: boolean };
      }[];
      expect(records.map(({ offset }) => offset)).toEqual(records.map(({ offset }) => offset).sort((a, b) => a - b));
      for (const one of known) {
        const ofMessage = records.filter(({ message }) => message.id === one.id);
        expect(ofMessage.filter(({ type }) => type === 'message')).toHaveLength(1);
        expect(ofMessage.filter(({ type }) => type === 'message_deleted')).toHaveLength(one.isDeleted ? 1 : 0);
        for (const { message } of ofMessage)
          expect([message.is_deleted, message.message]).toEqual([one.isDeleted, one.isDeleted ? '' : one.text]);
      }
    },
    60_000 + kills * 2 * settledMsMax,
  );
}

/** Throws unless the message is in the acknowledged or the unconfirmed state. */
function compare({ text, isDeleted, maybe }: Known, shown: string | undefined): void {
  const expected = [
    isDeleted ? undefined : text,
    ...(maybe === null ? [] : [maybe === 'deleted' ? undefined : maybe.text]),
  ];
  expect(expected).toContain(shown);
}

/** Resolves the unconfirmed change: it either happened or not. */
function settleDoubt(one: Known, shown: string | undefined): void {
  one.isDeleted = shown === undefined;
  one.text = shown ?? one.text;
  one.maybe = null;
}
