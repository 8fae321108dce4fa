import { setTimeout as pause } from 'node:timers/promises';
import type { PlacedRecord } from '../../../../domain/messages/log-record.ts';
import type { Clock } from '../../../../platform/clock.ts';
import type { ReconciledRecord } from '../../../../ports/messages.ts';
import type { MessageCollections } from './mongo-message-collections.ts';
import { lastOffsetsBelow, storedOf } from './mongo-message-reads.ts';

export interface SettleOptions {
  readonly collections: MessageCollections;
  readonly write: (records: readonly PlacedRecord[]) => Promise<void>;
  readonly clock: Clock;
}

/**
 * Whoever publishes stores the document too, and is as a rule about to: so long the fan-out looks again before it does it
 * itself. Both at once meet in their transactions, and each such meeting costs both of them a pause and all its work.
 */
const patienceMs = [3, 6, 12, 25, 50] as const;
/** What is older has a publisher that died, or comes again. */
const freshMs = 1_000;
/** Harm prevented: a partition of very many topics filling the memory. */
const topicsKnownMax = 20_000;

/** What the last batch of a partition has left. */
interface Progress {
  /** The position after its last record. */
  readonly next: number;
  /** The last settled position of topics, as far as known. */
  readonly lastOffsets: Map<string, number>;
}

/** The port's `settle`. */
export function mongoReconcile(
  options: SettleOptions,
): (partition: number, records: readonly PlacedRecord[]) => Promise<ReconciledRecord[]> {
  const partitions = new Map<number, Progress>();

  return async (partition, records) => {
    const first = records[0];
    if (first === undefined) return [];
    const before = partitions.get(partition);
    partitions.delete(partition); // whatever this batch comes to, if it fails nothing is known
    // A batch that does not begin where the last one ended has others before it, which another process may have settled.
    const known =
      before?.next === first.offset && before.lastOffsets.size < topicsKnownMax
        ? before.lastOffsets
        : new Map<string, number>();
    const unknown = [...new Set(records.map(({ record }) => record.message.topicId))].filter(
      (topicId) => !known.has(topicId),
    );
    const [stored, lastOffsets] = await Promise.all([
      storedInTheEnd(options, records),
      unknown.length === 0 ? new Map<string, number>() : lastOffsetsBelow(options.collections, unknown, first.offset),
    ]);
    for (const [topicId, offset] of lastOffsets) known.set(topicId, offset);
    const now = options.clock();
    const settled = records
      .filter((placed) => stored.has(placed) && placed.record.message.expiresAt > now)
      .map((placed) => {
        const { topicId } = placed.record.message;
        const previousOffset = known.get(topicId) ?? null;
        known.set(topicId, placed.offset);
        return { ...placed, previousOffset };
      });
    partitions.set(partition, { next: records.at(-1)!.offset + 1, lastOffsets: known });
    return settled;
  };
}

/** Those of the records that are stored and no second copies, when all that was missing is written. */
async function storedInTheEnd(
  { collections, write, clock }: SettleOptions,
  records: readonly PlacedRecord[],
): Promise<Set<PlacedRecord>> {
  let stored = await storedOf(collections, records);
  for (const waitMs of patienceMs) {
    const missing = records.filter((placed) => !stored.has(placed));
    const oldestFresh = clock() - freshMs;
    if (!missing.some(({ record }) => record.timestamp > oldestFresh)) break;
    await pause(waitMs);
    for (const placed of await storedOf(collections, missing)) stored.add(placed);
  }
  const missing = records.filter((placed) => !stored.has(placed));
  if (missing.length === 0) return stored;
  await write(missing);
  // All are looked up again: a first copy that was missing has taken the place of a second one that was there.
  stored = await storedOf(collections, records);
  return stored;
}
