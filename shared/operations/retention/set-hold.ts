import { AppError } from '../../domain/errors.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import { write, type Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { findTopicByName, topics } from '../../collections/topics.ts';
import { updateWith } from '../../documents/update-with.ts';
import { users } from '../../collections/users.ts';

/**
 * Starts or ends the legal hold of a topic. During a hold, nothing of the topic is removed, and neither the topic nor
 * its owner's account nor its team can be deleted. Changes and records nothing if the topic already has this setting.
 * Throws `not_found` `Topic not found`.
 */
export function setHold(documents: Documents, name: string, isHeld: boolean, audit: Audit): Promise<Topic> {
  return retryStale(async () => {
    const topic = await findTopicByName(documents, name);
    if (topic === null) throw new AppError('not_found', 'Topic not found');
    if (topic.isHeld === isHeld) return topic;
    const owner = await documents.get(users, topic.ownerId);
    const otherWrites = [
      // Of a concurrent hold and account deletion, only one succeeds; see `removeAccount`.
      ...(owner === null ? [] : [write.update(users, owner, {})]),
      ...audit({ action: isHeld ? 'topic.held' : 'topic.released', subject: topic, details: {} }),
    ];
    return updateWith(documents, topics, topic, { set: { isHeld }, otherWrites });
  });
}

/** Returns at most `limit` topics under legal hold, those that were created last first. */
export function listHeldTopics(documents: Documents, limit: number): Promise<Topic[]> {
  return documents.find(topics, { index: 'byHeld', equals: { isHeld: true }, descending: true, limit });
}
