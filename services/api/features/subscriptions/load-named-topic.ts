import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Directory } from '../../directory/directory.ts';
import type { RequestContext } from '../../http/route.ts';

/**
 * Returns the topic in the path without a read check, because the request concerns the caller's subscription. Throws
 * 404.
 */
export async function loadNamedTopic(directory: Directory, context: RequestContext): Promise<Topic> {
  const topic = await directory.topicByName(context.params['topic_name']!);
  if (topic === null) throw new AppError('not_found', 'Topic not found');
  return topic;
}
