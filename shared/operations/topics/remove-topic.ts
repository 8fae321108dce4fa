import { AppError } from '../../domain/errors.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { removeTopicWrites } from '../../collections/topic-cleanups.ts';
import { topics } from '../../collections/topics.ts';

/**
 * Removes the topic in one commit. From then on, it is not accessible and its name is free. The clean-up that the
 * commit stores erases the remaining data. The caller notifies the nodes (`topicChange`). Throws `not_found` `Topic not
 * found`, and `conflict` under legal hold.
 */
export function removeTopic(
  {
    documents,
    makeId,
    clock,
  }: { readonly documents: Documents; readonly makeId: () => string; readonly clock: () => number },
  topicId: string,
  audit: Audit,
): Promise<Topic> {
  return retryStale(async () => {
    const topic = await documents.get(topics, topicId);
    if (topic === null) throw new AppError('not_found', 'Topic not found');
    if (topic.isHeld) throw new AppError('conflict', 'Topic is under legal hold');
    await documents.commit([
      ...removeTopicWrites(topic, { id: makeId(), now: clock() }),
      ...audit({
        action: 'topic.deleted',
        subject: topic,
        ...(topic.teamId === null ? {} : { within: { type: 'team', id: topic.teamId } }),
        details: {},
      }),
    ]);
    return topic;
  });
}
