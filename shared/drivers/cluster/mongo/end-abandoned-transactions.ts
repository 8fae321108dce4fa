import type { Connection, mongo } from 'mongoose';

/**
 * A transaction idle for this long belongs to a process that died, stalled or lost its connection: our transactions
 * pause only for milliseconds between statements.
 */
const abandonedAfterMs = 1_000;
/** The time after which a write may be blocked by an abandoned transaction. */
const blockedAfterMs = 500;

interface IdleSession {
  readonly lsid: { readonly id: mongo.UUID };
}

/**
 * Ends abandoned transactions of this installation's processes, which block writes to their documents. MongoDB itself
 * ends them only after 1.5 times `transactionLifetimeLimitSeconds`. Identifies our transactions by the connection's
 * name. A process that is still alive notices on its next statement and repeats its transaction; a running commit is
 * never ended. Resolves with the number of ended transactions. Throws MongoDB's errors, for example for a missing
 * permission.
 */
export async function endAbandonedTransactions(connection: Connection): Promise<number> {
  const client = connection.getClient();
  const admin = client.db('admin');
  const abandoned = await admin
    .aggregate<IdleSession>([
      // Lists only the user's own transactions, which needs no permission.
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
  // Do not send an empty list: it would end every session of the server.
  if (abandoned.length > 0) await admin.command({ killSessions: abandoned.map(({ lsid }) => ({ id: lsid.id })) });
  return abandoned.length;
}

/**
 * Runs a write outside of a transaction. MongoDB lets it wait for transactions that hold its documents, so while it
 * takes long, ends abandoned ones.
 */
export async function unblocked<T>(connection: Connection, write: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {
    void endAbandonedTransactions(connection).catch(() => undefined); // otherwise the server ends them
  }, blockedAfterMs);
  try {
    return await write();
  } finally {
    clearInterval(timer);
  }
}
