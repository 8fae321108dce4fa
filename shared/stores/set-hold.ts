import { AppError } from '../domain/errors.ts';
import type { Topic } from '../domain/topic.ts';
import type { Documents } from '../ports/documents.ts';
import { retryStale } from './retry-stale.ts';
import { findTopicByName, topics } from './topics.ts';

/**
 * Puts a topic under legal hold, or ends that: while it lasts nothing of the topic is removed, and neither it nor its
 * owner's account nor its team can be deleted. Setting what is set already changes nothing. Throws `not_found`
 * `Topic not found`.
 */
export function setHold(documents: Documents, name: string, isHeld: boolean): Promise<Topic> {
  return retryStale(async () => {
    const topic = await findTopicByName(documents, name);
    if (topic === null) throw new AppError('not_found', 'Topic not found');
    return topic.isHeld === isHeld ? topic : documents.update(topics, topic, { isHeld });
  });
}
