import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import { coalescedUpdates } from '../../async/coalesced-updates.ts';
import { topics } from '../../collections/topics.ts';

/** How far listings may be behind. */
const everyMs = 2_000;

/** Notes when topics were last published to, for the order of listings: some seconds late, never on the publish's way. */
export interface TopicActivity {
  /** `time`: milliseconds since the epoch. One that is older than what is noted changes nothing. */
  published(topicId: string, time: number): void;
  close(): Promise<void>;
}

export function topicActivity(documents: Documents, onLoss: (error: unknown) => void): TopicActivity {
  const updates = coalescedUpdates<Topic, number>({
    documents,
    collection: topics,
    everyMs,
    onLoss,
    merge: Math.max,
    change: (topic, time) => (topic.lastActivityAt < time ? { lastActivityAt: time } : null),
  });
  return { published: (topicId, time) => updates.add(topicId, time), close: () => updates.close() };
}
