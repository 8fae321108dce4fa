import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlacedRecord } from '../../../domain/messages/log-record.ts';
import type { Logger } from '../../../platform/logger.ts';
import { untilDone } from '../../../async/until-done.ts';
import type { ConsumeOptions } from '../../../ports/event-log.ts';

/** The pause before the same records come again: doubling, so that a broken handler does not keep a core busy. */
const pauses = { firstPauseMs: 100, longestPauseMs: 5_000 } as const;
const batchSizeDefault = 1_000;

/** What a member of a group needs of the log. */
export interface MemberSource {
  /** Records from the position on, and the position to go on from when there are none. */
  read(offset: number, limit: number): { records: PlacedRecord[]; nextOffset: number };
  /** Resolves when a record has been committed after the call, or the signal is aborted. */
  appended(signal: AbortSignal): Promise<void>;
  committed(group: string): number;
  commit(group: string, offset: number): void;
}

/** The member of a group that is active: hands out batches from its group's position on, one at a time, until aborted. */
export async function runLogMember(
  source: MemberSource,
  options: ConsumeOptions,
  at: { signal: AbortSignal; log: Logger },
): Promise<void> {
  const { signal, log } = at;
  const trying = {
    signal,
    ...pauses,
    onFailure: (error: unknown, pauseMs: number) =>
      log.warn(
        { err: error, group: options.group, pauseMs },
        'a step of a consumer of the log failed and is tried again',
      ),
  };
  const limit = options.batchSizeMax ?? batchSizeDefault;
  let position = await untilDone(async () => (await options.startAt?.(0)) ?? source.committed(options.group), trying);
  while (position !== undefined && !signal.aborted) {
    const from: number = position;
    const found = await untilDone(() => source.read(from, limit), trying);
    if (found === undefined) return;
    const { records, nextOffset } = found;
    if (records.length > 0) {
      const handled = await untilDone(
        () => options.onBatch({ partition: 0, records, nextOffset, signal }).then(() => true),
        trying,
      );
      if (handled === undefined) return;
    }
    if (nextOffset > from) source.commit(options.group, nextOffset);
    else await source.appended(signal);
    position = nextOffset;
    await nextTurn(); // a handler that never waits must not keep the loop from everything else
  }
}
