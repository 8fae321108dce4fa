import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Sink } from '@tocsin/shared/domain/sinks/sink.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { sinks } from '@tocsin/shared/collections/sinks/sinks.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { loadManagedTopic, pathId } from '../../http/load-topic.ts';
import type { RequestContext } from '../../http/route.ts';

/** A route's `load`: the topic and the sink in the path, for a manager. */
export function loadManagedSink(
  deps: Pick<ApiDeps, 'directory' | 'engine'>,
): (context: RequestContext) => Promise<{ readonly topic: Topic; readonly sink: Sink }> {
  return async (context) => {
    const topic = await loadManagedTopic(deps.directory)(context);
    return { topic, sink: await findSink(deps.engine.documents, topic.id, pathId(context, 'sink_id')) };
  };
}

/** Returns the sink of the topic. Throws 404. */
export async function findSink(documents: Documents, topicId: string, id: string): Promise<Sink> {
  const sink = await documents.get(sinks, id);
  if (sink?.topicId !== topicId) throw new AppError('not_found', 'Sink not found');
  return sink;
}
