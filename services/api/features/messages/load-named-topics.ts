import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { openTopicByName } from '../../http/load-topic.ts';
import { listValues } from '../../http/query-list.ts';
import type { RequestContext } from '../../http/route.ts';

/** The `topic` of a query, which `loadNamedTopic` reads. */
export const namedTopic = z.string().optional().describe('The name of a topic, in any case: only its messages.');

/** What a route answers that lets a topic be named. */
export const namedTopicErrors = { 404: 'A topic that is named does not exist.' };

/** Topics that one question may name. */
export const topicsNamedMax = 100;

/** The topic that the query names, null without one. Throws 404 for an unknown one, 401 and 403 for one that may not be read. */
export async function loadNamedTopic(deps: ApiDeps, { caller, searchParams }: RequestContext): Promise<Topic | null> {
  const [name = '', ...others] = searchParams.getAll('topic');
  // Given twice it is refused with the other parameters.
  if (name.trim() === '' || others.length > 0) return null;
  return openTopicByName(deps.directory, caller, { name, act: 'read' });
}

/** The topics that the query names, null without any. Throws as `loadNamedTopic` for each of them. */
export async function loadNamedTopics(
  deps: ApiDeps,
  { caller, searchParams }: RequestContext,
): Promise<Topic[] | null> {
  const names = listValues(searchParams.getAll('topics'));
  // Too many are refused with the other parameters.
  if (names.length === 0 || names.length > topicsNamedMax) return null;
  return Promise.all(names.map((name) => openTopicByName(deps.directory, caller, { name, act: 'read' })));
}
