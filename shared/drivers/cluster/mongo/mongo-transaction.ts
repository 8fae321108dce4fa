import { setTimeout as pause } from 'node:timers/promises';
import type { ClientSession, Connection } from 'mongoose';
import { unavailable } from '../../../domain/errors.ts';
import { endAbandonedTransactions } from './end-abandoned-transactions.ts';

/** Harm prevented: commits that keep meeting each other, or a server that comes and goes, would hold their callers for good. */
const attemptsMax = 100;
const deadlineMs = 10_000;
const pauseMsMax = 50;
/** Who keeps meeting another transaction for so long looks whether somebody has left it behind, and again after each such time. */
const suspiciousMs = 250;
/** MongoDB's code for a write that met another transaction's. */
const writeConflict = 112;

/**
 * Runs work in a transaction and commits it by the majority. A transaction that met another one, or that a server lost,
 * is run again from the start, so the work must have no effect but its writes; if that other one was left behind by a process
 * that died, it is ended. What the work throws otherwise undoes everything and is thrown. Throws AppError `unavailable` when
 * it keeps failing; a commit whose outcome nobody could tell within the deadline is among these.
 */
export async function inTransaction(
  connection: Connection,
  work: (session: ClientSession) => Promise<void>,
): Promise<void> {
  const givenUpAt = performance.now() + deadlineMs;
  let suspiciousAt = performance.now() + suspiciousMs;
  for (let attempt = 1; ; attempt++) {
    const session = await connection.startSession();
    try {
      session.startTransaction({
        readConcern: { level: 'snapshot' },
        writeConcern: { w: 'majority' },
        readPreference: 'primary',
      });
      await work(session);
      await commitSurely(session, givenUpAt);
      return;
    } catch (error) {
      if (session.inTransaction()) await session.abortTransaction().catch(() => undefined); // the server ends it by itself else
      if (!hasLabel(error, 'TransientTransactionError')) throw error;
      if (attempt === attemptsMax || performance.now() > givenUpAt) throw unavailable('Database', error);
      if (performance.now() > suspiciousAt && (error as { code?: unknown }).code === writeConflict) {
        await endAbandonedTransactions(connection).catch(() => undefined); // the server ends them by itself else
        suspiciousAt = performance.now() + suspiciousMs;
      }
    } finally {
      await session.endSession().catch(() => undefined); // the server forgets it by itself else
    }
    await pause(Math.random() * Math.min(2 ** attempt, pauseMsMax));
  }
}

/** Asks again while the answer to the commit is lost: a commit that was done already is only confirmed. */
async function commitSurely(session: ClientSession, givenUpAt: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (!hasLabel(error, 'UnknownTransactionCommitResult')) throw error;
      if (attempt === attemptsMax || performance.now() > givenUpAt) throw unavailable('Database', error);
    }
    await pause(Math.random() * Math.min(2 ** attempt, pauseMsMax));
  }
}

function hasLabel(error: unknown, label: string): boolean {
  return (
    error instanceof Error && 'hasErrorLabel' in error && (error.hasErrorLabel as (label: string) => boolean)(label)
  );
}
