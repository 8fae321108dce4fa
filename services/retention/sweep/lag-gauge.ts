import { Gauge, type Registry } from 'prom-client';
import { recordLag, type LogReader } from '@tocsin/shared/operations/messages/record-lag.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';

/** Readers with a value of their own; the others are summed. */
const shownMax = 100;
/** Limits the work of a measurement to seconds. */
const readersMax = 100_000;
/** Scrapes share a measurement for this long. */
const measuredMs = 30_000;

export interface LagGauge<T extends LogReader, Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly states: readonly string[];
  /** The name of the label that tells readers of a topic apart. */
  readonly label: Label;
  /** All readers, in pages. */
  readonly pages: () => AsyncIterable<readonly T[]>;
  readonly stateOf: (reader: T, now: number) => string;
  readonly labelOf: (reader: T) => string;
  /** Since when records count as lost, by default now. */
  readonly lostSince?: (reader: T) => number;
  /** Resolves with the time that decides what has expired for a reader, or with null for now. */
  readonly horizon?: () => Promise<((reader: T) => number) | null>;
}

/**
 * Exposes the unread records of the readers that are furthest behind, and the sum of the others by state. Sum and
 * ranking use the difference of the offsets, an upper bound: topics share the offsets of a partition. While the store
 * is down, the last values stay.
 */
export function showLag<T extends LogReader, Label extends string>(
  registry: Registry,
  deps: { readonly messages: Pick<Engine['messages'], 'countRecords' | 'lastOffsets'>; readonly clock: () => number },
  gauge: LagGauge<T, Label>,
): void {
  let measuredAt = -Infinity;
  const { name, help } = gauge;
  new Gauge({
    ...{ name, help },
    labelNames: ['state', 'topic_id', gauge.label],
    registers: [registry],
    async collect() {
      if (performance.now() - measuredAt < measuredMs) return;
      const lags = await measure(deps, gauge).catch(() => null);
      if (lags === null) return;
      measuredAt = performance.now();
      this.reset();
      for (const { labels, lag } of lags) this.inc(labels, lag);
    },
  });
}

interface MeasuredLag<Label extends string> {
  readonly labels: Record<'state' | 'topic_id' | Label, string>;
  readonly lag: number;
}

async function measure<T extends LogReader, Label extends string>(
  { messages, clock }: Parameters<typeof showLag>[1],
  { label, states, pages, stateOf, labelOf, lostSince, horizon }: LagGauge<T, Label>,
): Promise<MeasuredLag<Label>[]> {
  const now = clock();
  const others = new Map(states.map((state) => [state, 0]));
  const worst: { reader: T; head: number; behind: number }[] = [];
  let count = 0;
  for await (const page of pages()) {
    const heads = await messages.lastOffsets([...new Set(page.map(({ topicId }) => topicId))]);
    for (const reader of page) {
      const head = (heads.get(reader.topicId) ?? -1) + 1;
      if (reader.offset < head) worst.push({ reader, head, behind: head - reader.offset });
    }
    worst.sort((a, b) => b.behind - a.behind);
    for (const { reader, behind } of worst.splice(shownMax)) {
      const state = stateOf(reader, now);
      others.set(state, (others.get(state) ?? 0) + behind);
    }
    count += page.length;
    if (count >= readersMax) break;
  }
  const labelsOf = (state: string, topicId: string, value: string) =>
    ({ state, topic_id: topicId, [label]: value }) as MeasuredLag<Label>['labels'];
  const lags = [...others].map(([state, lag]) => ({ labels: labelsOf(state, '', ''), lag }));
  const horizonOf = (await horizon?.()) ?? (() => now);
  for (const { reader, head } of worst) {
    const countRecords: Parameters<typeof recordLag>[0] = (topicId, of) =>
      messages.countRecords(topicId, { ...of, now: horizonOf(reader) });
    const at = { head, since: lostSince?.(reader) ?? now };
    const { lag } = await recordLag(countRecords, reader, at);
    lags.push({ labels: labelsOf(stateOf(reader, now), reader.topicId, labelOf(reader)), lag });
  }
  return lags;
}
