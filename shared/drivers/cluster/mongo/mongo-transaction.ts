import { setTimeout as pause } from 'node:timers/promises';
import type { ClientSession, Connection, mongo } from 'mongoose';
import { unavailable } from '../../../domain/errors.ts';
import { endAbandonedTransactions } from './end-abandoned-transactions.ts';
import { electionMs, isDuringElection } from './mongo-election.ts';

/** The deadline of a transaction with repeated conflicts or an unstable server. */
const attemptsMax = 100;
const deadlineMs = 10_000;
const pauseMsMax = 50;
/** After conflicts for this long, checks for abandoned transactions, and again after each interval. */
const abandonedCheckMs = 250;
/** MongoDB's code for a write conflict. */
const writeConflict = 112;

/**
 * Runs work in a transaction and commits it with majority write concern. After a conflict or a lost server, runs the
 * work again, so the work must have no other effects than its writes. Waits up to 5 s for an election. Ends conflicting
 * transactions of dead processes. Other errors of the work abort the transaction and are rethrown. Throws AppError
 * `unavailable` if the transaction keeps failing or the outcome of the commit is unknown at the deadline. Resolves with
 * the time of the commit, after which a causally consistent session reads what it wrote, also from another primary.
 */
export async function inTransaction(
  connection: Connection,
  work: (session: ClientSession) => Promise<void>,
): Promise<mongo.Timestamp | undefined> {
  const startedAt = performance.now();
  const deadlines: Deadlines = { any: startedAt + deadlineMs, election: startedAt + electionMs };
  let nextCheckAt = startedAt + abandonedCheckMs;
  for (let attempt = 1; ; attempt++) {
    const session = await connection.startSession();
    try {
      session.startTransaction({
        readConcern: { level: 'snapshot' },
        writeConcern: { w: 'majority' },
        readPreference: 'primary',
      });
      await work(session);
      await commitWithRetries(session, deadlines);
      return session.operationTime;
    } catch (error) {
      // If the abort fails, the server ends the transaction.
      if (session.inTransaction()) await session.abortTransaction().catch(() => undefined);
      throwUnlessRetryable(error, { label: 'TransientTransactionError', attempt, deadlines });
      if (performance.now() > nextCheckAt && (error as { code?: unknown }).code === writeConflict) {
        await endAbandonedTransactions(connection).catch(() => undefined); // otherwise the server ends them
        nextCheckAt = performance.now() + abandonedCheckMs;
      }
    } finally {
      await session.endSession().catch(() => undefined); // otherwise the server removes it
    }
    await pause(Math.random() * Math.min(2 ** attempt, pauseMsMax));
  }
}

/** Commits, and retries while the response is lost. A retry of a completed commit only confirms it. */
async function commitWithRetries(session: ClientSession, deadlines: Deadlines): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      throwUnlessRetryable(error, { label: 'UnknownTransactionCommitResult', attempt, deadlines });
    }
    await pause(Math.random() * Math.min(2 ** attempt, pauseMsMax));
  }
}

interface Deadlines {
  readonly any: number;
  readonly election: number;
}

function throwUnlessRetryable(
  error: unknown,
  { label, attempt, deadlines }: { readonly label: string; readonly attempt: number; readonly deadlines: Deadlines },
): void {
  const now = performance.now();
  if (isDuringElection(error) && now < deadlines.election) return;
  if (!hasLabel(error, label)) throw error;
  if (attempt === attemptsMax || now > deadlines.any) throw unavailable('Database', error);
}

function hasLabel(error: unknown, label: string): boolean {
  return (
    error instanceof Error && 'hasErrorLabel' in error && (error.hasErrorLabel as (label: string) => boolean)(label)
  );
}
