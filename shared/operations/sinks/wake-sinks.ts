import { batchCheck } from '../../async/batch-loader.ts';
import { sinks, sinkTopics } from '../../collections/sinks/sinks.ts';
import { ReadCache } from '../../documents/read-cache.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { sinkLimits, type Sink } from '../../domain/sinks/sink.ts';
import type { Documents } from '../../ports/documents.ts';
import type { Engine } from '../../ports/engine.ts';

type SinkLookupEngine = { readonly documents: Pick<Documents, 'pick'> } & Pick<Engine, 'storage'>;
type WakeDocuments = Pick<Documents, 'find' | 'get' | 'raise' | 'update'>;

/** IDs per lookup: the port's limit. */
const topicsPerLookup = 1_000;

const cachedTopicsMax = 20_000;

/** Whether topics have or had sinks. Calls of one tick share a query; answers are cached until a change. */
export function sinkTopicLookup({ documents, storage }: SinkLookupEngine): (topicId: string) => Promise<boolean> {
  const cache = new ReadCache<boolean>({
    storage,
    collections: [sinkTopics],
    sizeOf: () => 1,
    sizeMax: cachedTopicsMax,
  });
  const isSinkTopic = batchCheck<string>(
    async (topicIds) => (await documents.pick(sinkTopics, topicIds, [])).map(({ id }) => id),
    topicsPerLookup,
  );
  return (topicId) => cache.get(topicId, () => isSinkTopic(topicId));
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
