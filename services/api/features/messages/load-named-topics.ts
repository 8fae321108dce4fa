import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { openTopicByName } from '../../http/load-topic.ts';
import { listValues } from '../../http/query-list.ts';
import type { RequestContext } from '../../http/route.ts';

/** The `topic` of a query, which `loadNamedTopic` reads. */
export const namedTopic = z.string().optional().describe('The name of a topic, case-insensitive: only its messages.');

/** The error responses of routes that accept a topic name. */
export const namedTopicErrors = { 404: 'A named topic does not exist.' };

/** The maximum of topics in one query. */
export const topicsNamedMax = 100;

/** The topic that the query names, or null. Throws 404 for an unknown topic, 401 and 403 without read access. */
export async function loadNamedTopic(
  deps: Pick<ApiDeps, 'directory'>,
  { caller, searchParams }: RequestContext,
): Promise<Topic | null> {
  const [name = '', ...others] = searchParams.getAll('topic');
  // The validation of parameters refuses repeated values.
  if (name.trim() === '' || others.length > 0) return null;
  return openTopicByName(deps.directory, caller, { name, act: 'read' });
}

/** The topics that the query names, or null. Throws like `loadNamedTopic` for each of them. */
export async function loadNamedTopics(
  deps: Pick<ApiDeps, 'directory'>,
  { caller, searchParams }: RequestContext,
): Promise<Topic[] | null> {
  const names = listValues(searchParams.getAll('topics'));
  // The validation of parameters refuses too many topics.
  if (names.length === 0 || names.length > topicsNamedMax) return null;
  return Promise.all(names.map((name) => openTopicByName(deps.directory, caller, { name, act: 'read' })));
}
