import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sinks, sinkTopics } from '@tocsin/shared/collections/sinks/sinks.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { restartedSink, type Sink } from '@tocsin/shared/domain/sinks/sink.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { startSmtpSimulator, type SmtpSimulator } from '@tocsin/simulators/smtp-simulator.ts';
import { openPushInstallation, type PushInstallation } from '../push-installation.fixtures.ts';
import { dueSink } from './due-sink.fixtures.ts';

const hourMs = 3_600_000;
const patience = { timeoutMs: 60_000 };
const testMsMax = 180_000;

interface Receiver {
  readonly url: string;
  /** The texts of the messages in the order of their arrival. */
  readonly texts: string[];
  respond: (response: ServerResponse) => void;
  close(): void;
}

async function startReceiver(): Promise<Receiver> {
  const texts: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part));
    request.on('end', () => {
      texts.push((JSON.parse(body) as { data: { message: { message: string } } }).data.message.message);
      receiver.respond(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    texts,
    respond: answer(204),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}

const answer =
  (status: number): Receiver['respond'] =>
  (response) =>
    void response.writeHead(status).end();

describe(`failing sinks, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  let smtp: SmtpSimulator;
  let receiver: Receiver;
  let aheadMs: number;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
    smtp = await startSmtpSimulator();
    receiver = await startReceiver();
    aheadMs = 0;
    const allowed = { SINKS_ALLOW_HTTP: true, SINKS_ALLOW_ADDRESSES: ['127.0.0.1'] };
    await at.start({}, { config: { ...at.place.config, ...allowed, SMTP_URL: smtp.url } });
  });
  afterEach(async () => {
    await at.close();
    receiver.close();
    await smtp.close();
  });

  const advance = (ms: number): void => at.setAhead((aheadMs += ms));
  const sinkOf = async ({ id }: Pick<Sink, 'id'>): Promise<Sink> => (await at.engine.documents.get(sinks, id))!;

  /** A topic with a sink to the receiver, by the topic's owner. */
  async function arrange() {
    const { documents } = at.engine;
    const creator = await documents.insert(users, newUser());
    const topic = await documents.insert(topics, newTopic(creator.id));
    await documents.insert(sinkTopics, { id: topic.id, head: -1 });
    const sink = await documents.insert(sinks, dueSink(topic, { url: receiver.url }));
    return { creator, topic, sink };
  }

  /** Publishes like the API, and moves the watermark like the fan-out. */
  const publish = async (topic: Topic, message: string): Promise<void> => {
    await at.publish(topic, { message, expiresAt: at.clock() + 7 * 24 * hourMs });
    const { eventLog, messages } = at.engine;
    await messages.moveWatermark(topic.partition, (await eventLog.end(topic.partition)) - 1);
  };

  /** Waits until the next attempt has failed, and ended with its claim. */
  const failed = (sink: Pick<Sink, 'id'>, attempts: number) =>
    eventually(async () => expect(await sinkOf(sink)).toMatchObject({ attempts, claim: null }), patience);

  test(
    'a sink that fails for 24 hours pauses, its creator gets one email, and it continues where it stopped',
    async () => {
      const { creator, topic, sink } = await arrange();
      receiver.respond = answer(503);
      await publish(topic, 'one');
      await publish(topic, 'two');
      await failed(sink, 1);
      advance(23 * hourMs);
      await failed(sink, 2);
      expect(await sinkOf(sink)).toMatchObject({ state: 'active', delivered: 0, skipped: 0 });
      expect(smtp.mails).toEqual([]);
      advance(hourMs);
      await eventually(
        async () =>
          expect(await sinkOf(sink)).toMatchObject({
            state: 'paused',
            stateReason: 'No delivery for 24 hours: the receiver returned 503',
            dueAt: null,
            claim: null,
          }),
        patience,
      );
      expect(receiver.texts).toEqual(['one', 'one', 'one']);
      await eventually(() => expect(smtp.mails).toHaveLength(1), patience);
      expect(smtp.mails[0]!.to).toEqual([creator.email]);
      expect(smtp.mails[0]!.raw).toMatch(new RegExp(`^Subject: A sink of the topic ${topic.name} is paused\\r$`, 'm'));
      expect(smtp.mails[0]!.raw).toContain('tickets');

      // Records do not wake it, only a manager.
      await publish(topic, 'three');
      receiver.respond = answer(204);
      const paused = await sinkOf(sink);
      await at.engine.documents.update(sinks, paused, restartedSink(paused, { state: 'active' }, at.clock()));
      await eventually(() => expect(receiver.texts.slice(3)).toEqual(['one', 'two', 'three']), patience);
      expect(smtp.mails).toHaveLength(1);
    },
    testMsMax,
  );

  test(
    'a receiver that never answers for 24 hours pauses the sink, too, and the reason is the timeout',
    async () => {
      const { topic, sink } = await arrange();
      receiver.respond = () => undefined;
      await publish(topic, 'one');
      await failed(sink, 1);
      advance(24 * hourMs);
      await eventually(
        async () =>
          expect(await sinkOf(sink)).toMatchObject({
            state: 'paused',
            stateReason: 'No delivery for 24 hours: timeout',
          }),
        patience,
      );
      await eventually(() => expect(smtp.mails).toHaveLength(1), patience);
    },
    testMsMax,
  );

  test(
    'a receiver that alternates between 200 and 500 for days gets every record in order, and the sink stays active',
    async () => {
      const { topic, sink } = await arrange();
      const texts = ['one', 'two', 'three', 'four'];
      for (const text of texts) await publish(topic, text);
      let count = 0;
      receiver.respond = (response) => answer(count++ % 2 === 0 ? 500 : 200)(response);
      for (let index = 0; index < texts.length; index += 1) {
        await eventually(() => expect(receiver.texts).toHaveLength(2 * index + 1), patience);
        await failed(sink, 1);
        advance(23 * hourMs);
      }
      const twice = texts.flatMap((text) => [text, text]);
      await eventually(() => expect(receiver.texts).toEqual(twice), patience);
      await eventually(
        async () =>
          expect(await sinkOf(sink)).toMatchObject({ state: 'active', delivered: 4, skipped: 0, failingSince: null }),
        patience,
      );
      expect(smtp.mails).toEqual([]);
    },
    testMsMax,
  );
});
