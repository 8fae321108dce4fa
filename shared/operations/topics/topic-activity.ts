import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import { conditionalBuffer } from '../../async/conditional-buffer.ts';
import { topics } from '../../collections/topics.ts';

/** The maximum delay of lists. */
const everyMs = 2_000;

/**
 * Records the last publish of topics, by which lists are sorted, with a delay of some seconds and outside of the
 * publish path.
 */
export interface TopicActivity {
  /** `time` is in milliseconds since the epoch. Ignores times older than the recorded one. */
  published(topicId: string, time: number): void;
  close(): Promise<void>;
}

export function topicActivity(documents: Documents, onLoss: (error: unknown) => void): TopicActivity {
  const updates = conditionalBuffer<Topic, number>({
    documents,
    collection: topics,
    everyMs,
    onLoss,
    merge: Math.max,
    change: (topic, time) => (topic.lastActivityAt < time ? { lastActivityAt: time } : null),
  });
  return { published: (topicId, time) => updates.add(topicId, time), close: () => updates.close() };
}
