import type { Connection, mongo } from 'mongoose';

/**
 * A transaction that has done nothing for so long belongs to a process that died, was cut off or stands still: from one of its
 * statements to the next ours take milliseconds.
 */
const abandonedAfterMs = 1_000;

interface IdleSession {
  readonly lsid: { readonly id: mongo.UUID };
}

/**
 * Ends the transactions of this installation's processes that nobody goes on with, so that what they touched can be written
 * again: MongoDB itself does it after `transactionLifetimeLimitSeconds`, and half of that again. A process that did live is told
 * so by its next statement, and runs its transaction again from the start; what is being committed is never ended. Ours are those
 * that carry the connection's name. Resolves with how many there were; throws what MongoDB throws, also to a user who may not ask.
 */
export async function endAbandonedTransactions(connection: Connection): Promise<number> {
  const client = connection.getClient();
  const admin = client.db('admin');
  const abandoned = await admin
    .aggregate<IdleSession>([
      // Of one's own user everybody may ask.
      { $currentOp: { allUsers: false, idleSessions: true } },
      {
        $match: {
          type: 'idleSession',
          appName: client.options.appName,
          'transaction.timeInactiveMicros': { $gte: abandonedAfterMs * 1_000 },
        },
      },
      { $project: { lsid: 1 } },
    ])
    .toArray();
  // None to end must not be sent: an empty list stands for every session of the server.
  if (abandoned.length > 0) await admin.command({ killSessions: abandoned.map(({ lsid }) => ({ id: lsid.id })) });
  return abandoned.length;
}
