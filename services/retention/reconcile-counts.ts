import { sweepPlaces, type SweepPlace } from '@tocsin/shared/collections/sweep-places.ts';
import { paginateTopics } from '@tocsin/shared/operations/topics/paginate-topics.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from './sweep/retention-deps.ts';

const name = 'reconcile-counts';
/** The interval between the starts of two rounds. */
const everyMs = 86_400_000;

/**
 * Recounts the messages of every topic once a day and corrects wrong counters. A run resumes where the last one
 * stopped or died. The report counts corrected topics.
 */
export async function reconcileCounts(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  const { documents } = deps.engine;
  const stored = await documents.get(sweepPlaces, name);
  if (stored === null) await documents.insert(sweepPlaces, { id: name, place: null, dueAt: deps.clock() + everyMs });
  if (stored === null || (stored.place === null && stored.dueAt > deps.clock())) return { removed: 0, hasMore: false };
  return runRound(deps, limit, stored);
}

async function runRound(deps: RetentionDeps, limit: SweepLimit, from: SweepPlace): Promise<SweepReport> {
  const { documents, messages } = deps.engine;
  let at = from;
  let removed = 0;
  for await (const page of paginateTopics(documents, from.place ?? undefined)) {
    for (const topic of page) {
      if (isOver(deps, limit)) return { removed, hasMore: true };
      if (topic.ownerId !== at.place) at = await documents.update(sweepPlaces, at, { place: topic.ownerId });
      const drift = await messages.recount(topic.id);
      if (drift === 0) continue;
      removed += 1;
      deps.log.warn({ topicId: topic.id, drift }, 'corrected the message count of a topic');
    }
  }
  await documents.update(sweepPlaces, at, { place: null, dueAt: deps.clock() + everyMs });
  return { removed, hasMore: false };
}
