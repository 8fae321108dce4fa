import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { PlacedRecord } from '../../domain/log-record.ts';
import type { Log } from '../../platform/log.ts';
import type { ConsumeOptions } from '../../ports/event-log.ts';

/** The pause before the same records come again: doubling, so that a broken handler does not keep a core busy. */
const pauseMs = { first: 100, longest: 5_000 } as const;
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
export async function runLogMember(source: MemberSource, options: ConsumeOptions, at: { signal: AbortSignal; log: Log }): Promise<void> {
  const { signal } = at;
  const limit = options.batchSizeMax ?? batchSizeDefault;
  let position = await untilDone(at, async () => (await options.startAt?.(0)) ?? source.committed(options.group));
  while (position !== undefined && !signal.aborted) {
    const from: number = position;
    const found = await untilDone(at, () => source.read(from, limit));
    if (found === undefined) return;
    const { records, nextOffset } = found;
    if (records.length > 0) {
      const handled = await untilDone(at, async () => {
        await options.onBatch({ partition: 0, records, nextOffset, signal });
        return true;
      });
      if (handled === undefined) return;
    }
    if (nextOffset > from) source.commit(options.group, nextOffset);
    else await source.appended(signal);
    position = nextOffset;
    await nextTurn(); // a handler that never waits must not keep the loop from everything else
  }
}

/** Does the work again until it succeeds; undefined when the signal was aborted before that. */
async function untilDone<T>({ signal, log }: { signal: AbortSignal; log: Log }, work: () => T | Promise<T>): Promise<T | undefined> {
  for (let pause: number = pauseMs.first; !signal.aborted; pause = Math.min(pause * 2, pauseMs.longest)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return undefined;
      log.warn({ err: error, pauseMs: pause }, 'a step of a consumer of the log failed and is tried again');
    }
    await sleep(pause, undefined, { signal }).catch(() => undefined); // woken early by the abort
  }
  return undefined;
}
