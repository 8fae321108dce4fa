import type { CollectTimes } from '../../../../ports/event-log.ts';
import { collectingMs } from '../../../collecting-ms.ts';

/** The part of a record that counts for the size of a fetch. */
export interface FetchedRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface FetchedBatch {
  readonly messages: readonly FetchedRecord[];
}

/** The part of kafkajs' ConsumerGroup that is used here. */
interface ConsumerGroup {
  readonly cluster: object;
  recoverFromFetch(error: Error): Promise<void>;
}

/** The collecting times of a consumer, and the arrivals by the broker's node ID. */
const collecting = Symbol('tocsin: collecting');

interface Collecting {
  [collecting]?: { readonly times: CollectTimes; readonly peaks: Map<string, ArrivalPeak> };
}

/**
 * Makes each fetch of this consumer after one with records wait at the broker until as many bytes have arrived as in
 * the largest recent fetch, for at most the collecting time. `isolateKafkaFetches` must have patched kafkajs.
 */
export function collectFetches(cluster: object, times: CollectTimes): void {
  (cluster as Collecting)[collecting] = { times, peaks: new Map() };
}

/** Calls kafkajs' `fetch` of the group, with the wait of `collectFetches` if the consumer has one. */
export async function fetchCollected<B extends FetchedBatch>(
  fetch: (nodeId: string) => Promise<B[]>,
  group: ConsumerGroup,
  nodeId: string,
): Promise<B[]> {
  const cluster: Collecting = group.cluster;
  if (cluster[collecting] === undefined) return fetch.call(group, nodeId);
  const { times, peaks } = cluster[collecting];
  const peak = peaks.get(nodeId) ?? new ArrivalPeak(times);
  peaks.set(nodeId, peak);
  const batches = await fetch.call(withWait(group, peak.wait), nodeId);
  peak.arrived(batches.flatMap(({ messages }) => messages));
  return batches;
}

interface FetchWait {
  /** The broker responds when this many bytes have arrived, */
  readonly minBytes: number;
  /** but not later than after this time. */
  readonly maxWaitTime: number;
}

/**
 * Returns a view of the group with these fields, which kafkajs reads when fetches from other brokers may have begun. A
 * recovery assigns fields, so it runs on the group itself.
 */
function withWait(group: ConsumerGroup, wait: FetchWait | undefined): ConsumerGroup {
  if (wait === undefined) return group;
  const view = Object.create(group) as ConsumerGroup;
  return Object.assign(view, wait, { recoverFromFetch: (error: Error) => group.recoverFromFetch(error) });
}

/** The share of a peak that remains after a smaller fetch. */
const peakKept = 0.9;

/** The bytes of a record besides its key, value and headers. */
const recordOverhead = 10;

/**
 * The largest recent fetch from a broker. Publishers that wait for an acknowledgement publish again soon after a fetch.
 * The next fetch should contain them all, and then need not wait longer.
 */
export class ArrivalPeak {
  readonly #times: CollectTimes;
  #records = 0;
  #bytes = 0;
  #wait: FetchWait | undefined;

  constructor(times: CollectTimes) {
    this.#times = times;
  }

  /** How long the next fetch waits; undefined for the first record, as kafkajs does by default. */
  get wait(): FetchWait | undefined {
    return this.#wait;
  }

  /** Notes the records of a fetch. */
  arrived(records: readonly FetchedRecord[]): void {
    const kept = records.length === 0 ? 0 : peakKept;
    this.#records = Math.max(records.length, this.#records * kept);
    this.#bytes = Math.max(
      records.reduce((sum, record) => sum + bytesOf(record), 0),
      this.#bytes * kept,
    );
    this.#wait =
      this.#records < 2
        ? undefined
        : { minBytes: Math.floor(this.#bytes), maxWaitTime: collectingMs(this.#times, records.length) };
  }
}

/** Not more than the record's bytes on the broker, otherwise fetches would wait in vain. */
function bytesOf({ key, value, headers }: FetchedRecord): number {
  const ofHeaders = Object.entries(headers ?? {}).reduce(
    (sum, [name, content]) => sum + name.length + (Buffer.isBuffer(content) ? content.length : 0),
    0,
  );
  return (key?.length ?? 0) + (value?.length ?? 0) + ofHeaders + recordOverhead;
}
