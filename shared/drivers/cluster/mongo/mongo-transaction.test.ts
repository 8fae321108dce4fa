import { expect, test } from '@jest/globals';
import type { ClientSession, Connection } from 'mongoose';
import { openLogger } from '../../../platform/logger.ts';
import { published, testMessage, testTime } from '../../../contracts/messages/messages.fixtures.ts';
import { newId } from '../../../testing/builders.ts';
import { describeWithEngines } from '../../../testing/describe-with-engines.ts';
import { openMongo } from './mongo-connection.ts';
import { openMongoMessages } from './messages/mongo-messages.ts';
import { mongoTestDatabase } from './mongo-test-database.fixtures.ts';

const log = openLogger('test', 'silent');

describeWithEngines('transactions on MongoDB', ({ mongoUrl }) => {
  test('ends the abandoned transaction of a dead process that blocks writes, and keeps transactions of others', async () => {
    const database = mongoTestDatabase(mongoUrl, 'abandoned');
    const otherUrl = new URL(database.url);
    otherUrl.searchParams.set('appName', 'another application');
    const other = await openMongo(otherUrl.href, { log });
    try {
      const [dead, alive] = [await database.connect(), await database.connect()];
      const messages = await openMongoMessages({ connection: alive, clock: () => testTime, log });
      const record = published(0, testMessage(newId()));
      const kept = await beginWriting(other, { _id: newId() });
      const left = await beginWriting(dead, { _id: record.record.message.id });

      // Otherwise every attempt conflicts with it, and the deadline of `apply` passes long before MongoDB ends it.
      await messages.apply([record]);
      expect(await messages.find(record.record.message.id)).toMatchObject({ offset: 0 });
      expect(
        (await messages.topicStats([record.record.message.topicId])).get(record.record.message.topicId)!.messageCount,
      ).toBe(1);

      // A live process would repeat its transaction.
      const goingOn = await left.commitTransaction().catch((error: unknown) => error);
      expect((goingOn as { hasErrorLabel(label: string): boolean }).hasErrorLabel('TransientTransactionError')).toBe(
        true,
      );
      await kept.commitTransaction();
      await Promise.all([left.endSession(), kept.endSession()]);
    } finally {
      await other.close();
      await database.drop();
    }
  });
});

/** Simulates a stalled process: a document is written, but not committed. */
async function beginWriting(connection: Connection, document: { readonly _id: string }): Promise<ClientSession> {
  const session = await connection.startSession();
  session.startTransaction();
  await connection.db!.collection<{ _id: string }>('messages').insertOne(document, { session });
  return session;
}
