import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { PlacedRecord } from '../../../domain/messages/log-record.ts';
import type { Logger } from '../../../platform/logger.ts';
import { untilDone } from '../../../async/until-done.ts';
import type { ConsumeOptions } from '../../../ports/event-log.ts';
import { collectingMs } from '../../collecting-ms.ts';

const batchSizeDefault = 1_000;

/** The part of the log that a group member uses. */
export interface MemberSource {
  /** Returns records from the offset, and the offset to continue from if the list is empty. */
  read(offset: number, limit: number): { records: PlacedRecord[]; nextOffset: number };
  /** Resolves when a record is committed after the call, or the signal is aborted. */
  appended(signal: AbortSignal): Promise<void>;
  committed(group: string): number;
  commit(group: string, offset: number): void;
  /** Whether the log has no record from the offset on. */
  isEnd(offset: number): boolean;
}

/** Runs the active member of a group: handles batches from the group's offset, one at a time, until aborted. */
export async function runLogMember(
  source: MemberSource,
  options: ConsumeOptions,
  at: { signal: AbortSignal; log: Logger },
): Promise<void> {
  const { signal, log } = at;
  const trying = {
    signal,
    onFailure: (error: unknown, failures: number) =>
      log.warn({ err: error, group: options.group, failures }, 'a log consumer failed, retrying'),
  };
  const limit = options.batchSizeMax ?? batchSizeDefault;
  let offset = await untilDone(
    async () => (await options.startAt?.(0, signal)) ?? source.committed(options.group),
    trying,
  );
  while (offset !== undefined && !signal.aborted) {
    const from: number = offset;
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
    offset = nextOffset;
    if (options.collect !== undefined && records.length > 0 && source.isEnd(offset))
      await sleep(collectingMs(options.collect, records.length), undefined, { signal }).catch(() => undefined);
    else await nextTurn(); // a handler that never waits must not block the event loop
  }
}
