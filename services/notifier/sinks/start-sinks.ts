import { setTimeout as pause } from 'node:timers/promises';
import { coalescedPause } from '@tocsin/shared/async/coalesced-timer.ts';
import { sinks } from '@tocsin/shared/collections/sinks/sinks.ts';
import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import type { Sink } from '@tocsin/shared/domain/sinks/sink.ts';
import { sinkTopicLookup, wakeSinks } from '@tocsin/shared/operations/sinks/wake-sinks.ts';
import type { RecordBatch } from '@tocsin/shared/ports/event-log.ts';
import { ClaimLost, HeldSink } from './held-sink.ts';
import type { SinkDeps } from './sink-deps.ts';
import { takeTurn } from './take-turn.ts';

/** The longest delay of a retry, and of a sink that another notifier has woken. */
const everyMs = 1_000;
/** The shortest pause between two queries. */
const pauseMs = 20;
/** Sinks that are worked on at a time, each with at most one request. Further ones wait for the end of a turn. */
const activeMax = 256;
/** A sink whose request lasts longer does not count, so that silent receivers do not delay other sinks. */
const slowMs = 1_000;
/** The same with the sinks that do not count. Each has a socket and up to a page of records. */
const openMax = 1_024;

export interface Sinks {
  /** Makes the sinks due that wait for these records. Call before the records are committed. */
  wake(batch: Pick<RecordBatch, 'records'>): Promise<void>;
  /** Waits for running requests, after `closing` was aborted. */
  close(): Promise<void>;
}

/**
 * Works on the sinks that are due: those with new records, and those whose pause is over. Waiting sinks cost nothing:
 * one query of an index finds the due ones of all. Any number of notifiers share the sinks: a claim decides.
 */
export function startSinks(deps: SinkDeps): Sinks {
  const { documents } = deps.engine;
  const hasSinks = sinkTopicLookup(deps.engine);
  const active = new Set<string>();
  const client = watchedClient(deps.client);
  const turns = new Set<Promise<void>>();
  let nudge = (): void => undefined;

  const start = (sink: Sink): void => {
    active.add(sink.id);
    const turn = work({ ...deps, client }, sink).finally(() => {
      active.delete(sink.id);
      turns.delete(turn);
      nudge();
    });
    turns.add(turn);
  };

  const freeSlots = (): number => Math.min(activeMax - (active.size - client.slowRequests()), openMax - active.size);

  const startDue = async (): Promise<void> => {
    const slots = freeSlots();
    if (slots <= 0) return;
    const due = await documents.find(sinks, {
      index: 'byDue',
      equals: {},
      from: 0,
      to: deps.clock(),
      limit: activeMax,
    });
    const free = due.filter(({ id }) => !active.has(id)).slice(0, slots);
    for (const sink of free) start(sink);
  };

  const run = async (): Promise<void> => {
    let isAway = false;
    while (!deps.closing.aborted) {
      const nudged = new Promise<void>((resolve) => (nudge = resolve));
      try {
        await startDue();
        isAway = false;
      } catch (error) {
        if (!isUnavailable(error) && !deps.closing.aborted) deps.log.error({ err: error }, 'sinks failed, retrying');
        else if (!isAway) deps.log.warn({ err: error }, 'store unreachable, sinks wait');
        isAway = true;
      }
      await quietly(pause(pauseMs, undefined, { signal: deps.closing }));
      const waiting = new AbortController();
      const signal = AbortSignal.any([waiting.signal, deps.closing]);
      await Promise.race([nudged, coalescedPause(everyMs, signal)]);
      waiting.abort();
    }
    while (turns.size > 0) await Promise.all(turns);
  };

  const running = run();
  return {
    async wake({ records }) {
      const heads = new Map(records.map(({ offset, record }) => [record.message.topicId, offset]));
      const woken = await Promise.all(
        [...heads].map(
          async ([id, head]) => (await hasSinks(id)) && (await wakeSinks(documents, { id, head }, deps.clock())),
        ),
      );
      if (woken.includes(true)) nudge();
    },
    close: () => running,
  };
}

/** The client, with the number of its requests that have lasted longer than `slowMs`. */
function watchedClient(client: SinkDeps['client']): SinkDeps['client'] & { slowRequests(): number } {
  const pending = new Set<{ readonly startedAt: number }>();
  return {
    async post(request) {
      const started = { startedAt: performance.now() };
      pending.add(started);
      try {
        return await client.post(request);
      } finally {
        pending.delete(started);
      }
    },
    slowRequests() {
      const now = performance.now();
      return [...pending].filter(({ startedAt }) => now - startedAt > slowMs).length;
    },
  };
}

const quietly = (waiting: Promise<unknown>): Promise<unknown> => waiting.catch(() => undefined);

/** Never rejects: a claim that it leaves behind expires. */
async function work(deps: SinkDeps, sink: Sink): Promise<void> {
  try {
    const held = await HeldSink.claim(deps, sink);
    if (held !== null) await takeTurn(deps, held);
  } catch (error) {
    if (error instanceof ClaimLost) return;
    if (isUnavailable(error))
      deps.log.warn({ err: error, sinkId: sink.id }, 'store or queue unreachable, a sink waits');
    else deps.log.error({ err: error, sinkId: sink.id }, 'a sink failed, retrying after its claim');
  }
}
