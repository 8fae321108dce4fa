import type { MessageFilter } from '../../domain/message-filter.ts';
import { clockSkewMs } from '../../ports/messages.ts';
import { byTime, type SearchedCollections } from './mongo-message-collections.ts';

interface Positions {
  $gte: number;
  $lte?: number;
}

/**
 * The positions between which the topic's messages of these times lie, null when it has none. In order of position a page of an
 * hour is found only by passing over all that is newer: so it begins and ends where the hour does. Positions are in order of
 * time but for the clocks' skew, so the first and the last that are looked for are among those of some seconds.
 */
export async function mongoMessagePositions(
  collections: SearchedCollections, topicId: string, { from, to }: Pick<MessageFilter, 'from' | 'to'>,
): Promise<Positions | null> {
  const [lowest, highest] = await Promise.all([
    from === null ? 0 : lastOf(collections, topicId, { time: from, direction: 1 }),
    to === null ? Infinity : lastOf(collections, topicId, { time: to, direction: -1 }),
  ]);
  if (lowest === null || highest === null) return null;
  return highest === Infinity ? { $gte: lowest } : { $gte: lowest, $lte: highest };
}

/** The lowest position of a message at or after the time (direction 1), or the highest of one at or before it (-1); null without one. */
async function lastOf(
  { messages, limits }: SearchedCollections, topicId: string, { time, direction }: { time: number; direction: 1 | -1 },
): Promise<number | null> {
  const options = { ...limits, projection: { _id: 0, offset: 1, timestamp: 1 }, limit: 1, hint: byTime } as const;
  const isMessage = { topicId, offset: { $gte: 0 } };
  const nearest = await messages.findOne({ ...isMessage, timestamp: direction === 1 ? { $gte: time } : { $lte: time } }, { ...options, sort: { timestamp: direction } });
  if (nearest === null) return null;
  const { timestamp } = nearest;
  const near = direction === 1 ? { $gte: time, $lte: timestamp + clockSkewMs } : { $gte: timestamp - clockSkewMs, $lte: time };
  const outermost = await messages.findOne({ ...isMessage, timestamp: near }, { ...options, sort: { offset: direction } });
  return (outermost ?? nearest).offset!;
}
