import { sinks, sinkTopics } from '../../collections/sinks/sinks.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { sinkLimits, type Sink } from '../../domain/sinks/sink.ts';
import type { Documents } from '../../ports/documents.ts';

type WakeDocuments = Pick<Documents, 'find' | 'get' | 'pick' | 'raise' | 'update'>;

/** IDs per lookup: the port's limit. */
const topicsPerLookup = 1_000;

/**
 * Makes the sinks of the topics due whose logs have reached these offsets. Resolves with whether any was woken. A sink
 * that becomes idle concurrently reads the offset after it, see `settle`. Idempotent.
 */
export async function wakeSinks(
  documents: WakeDocuments,
  heads: ReadonlyMap<string, number>,
  now: number,
): Promise<boolean> {
  const topicIds = [...heads.keys()];
  let hasWoken = false;
  for (let at = 0; at < topicIds.length; at += topicsPerLookup) {
    const found = await documents.pick(sinkTopics, topicIds.slice(at, at + topicsPerLookup), []);
    const woken = await Promise.all(found.map(({ id }) => wakeTopic(documents, { id, head: heads.get(id)! }, now)));
    hasWoken ||= woken.includes(true);
  }
  return hasWoken;
}

async function wakeTopic(documents: WakeDocuments, topic: { id: string; head: number }, now: number): Promise<boolean> {
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
