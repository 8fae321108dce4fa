import type { Sink } from '@tocsin/shared/domain/sinks/sink.ts';
import { recordLag } from '@tocsin/shared/operations/messages/record-lag.ts';
import { toSinkJson, type SinkJson } from '@tocsin/shared/wire/sink.ts';
import type { ApiDeps } from '../../api-deps.ts';

/** Returns the sinks with their lag, in the given order. */
export function describeSinks(
  { history, clock }: Pick<ApiDeps, 'clock' | 'history'>,
  found: readonly Sink[],
): Promise<SinkJson[]> {
  return Promise.all(
    found.map(async (sink) => {
      const at = { head: (await history.lastOffset(sink.topicId)) + 1, since: clock() };
      const { lag } = await recordLag((topicId, of) => history.countRecords(topicId, of), sink, at);
      return toSinkJson(sink, lag);
    }),
  );
}
