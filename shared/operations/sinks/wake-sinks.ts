import { sinks, sinkTopics } from '../../collections/sinks/sinks.ts';
import { topicCheck } from '../topics/topic-check.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { sinkLimits, type Sink } from '../../domain/sinks/sink.ts';
import type { Documents } from '../../ports/documents.ts';
import type { Engine } from '../../ports/engine.ts';

type SinkLookupEngine = { readonly documents: Pick<Documents, 'pick'> } & Pick<Engine, 'storage'>;
type WakeDocuments = Pick<Documents, 'find' | 'get' | 'raise' | 'update'>;

/** IDs per lookup: the port's limit. */
const topicsPerLookup = 1_000;

/** Whether topics have or had sinks. */
export function sinkTopicLookup({ documents, storage }: SinkLookupEngine): (topicId: string) => Promise<boolean> {
  return topicCheck({
    storage,
    collections: [sinkTopics],
    topicsMax: topicsPerLookup,
    find: async (topicIds) => (await documents.pick(sinkTopics, topicIds, [])).map(({ id }) => id),
  });
}

/**
 * Makes the sinks of a topic due whose log has reached the offset `head`. Resolves with whether any was woken. A sink
 * that becomes idle concurrently reads the offset after it, see `settle`. Idempotent.
 */
export async function wakeSinks(
  documents: WakeDocuments,
  topic: { readonly id: string; readonly head: number },
  now: number,
): Promise<boolean> {
  await documents.raise(sinkTopics, [topic.id], { field: 'head', to: topic.head });
  const idle = await documents.find(sinks, {
    index: 'byIdle',
    equals: { topicId: topic.id, isIdle: true },
    limit: sinkLimits.perTopic,
  });
  const behind = idle.filter(({ offset }) => offset <= topic.head);
  await Promise.all(behind.map((sink) => wakeSink(documents, sink, now)));
  return behind.length > 0;
}

function wakeSink(documents: WakeDocuments, found: Sink, now: number): Promise<void> {
  let known: Sink | null = found;
  return retryStale(async () => {
    const sink = known ?? (await documents.get(sinks, found.id));
    known = null;
    if (sink?.isIdle === true) await documents.update(sinks, sink, { isIdle: false, dueAt: now });
  });
}
