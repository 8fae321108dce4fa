import type { Audit } from '../../collections/audit-log.ts';
import { sinks } from '../../collections/sinks/sinks.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { updateWith } from '../../documents/update-with.ts';
import { restartedSink } from '../../domain/sinks/sink.ts';
import type { Documents } from '../../ports/documents.ts';

const stateReason = 'Its creator does not manage the topic any more';

/** Pauses an active sink, which may lead to its creator, a former manager. Another manager can activate it. */
export function pauseSink(documents: Documents, id: string, audit: Audit): Promise<void> {
  return retryStale(async () => {
    const sink = await documents.get(sinks, id);
    if (sink?.state !== 'active') return;
    await updateWith(documents, sinks, sink, {
      // A requested test is still due.
      set: restartedSink(sink, { state: 'paused', stateReason }, sink.testAt ?? 0),
      otherWrites: audit({
        action: 'sink.changed',
        subject: { id, name: sink.name },
        within: { type: 'topic', id: sink.topicId },
        details: { fields: ['state'] },
      }),
    });
  });
}
