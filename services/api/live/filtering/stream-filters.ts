import {
  FilterSubject,
  recordMatcher,
  type ContentFilter,
  type FilteredContent,
} from '@tocsin/shared/domain/messages/content-filter.ts';
import type { RecordType } from '@tocsin/shared/domain/messages/log-record.ts';

/** A record that filters select. The same object for all streams. */
export interface Filterable {
  readonly type: RecordType;
  readonly content: FilteredContent;
}

/** A stream's use of a filter. */
export interface StreamFilter {
  passes(record: Filterable): boolean;
  /** Idempotent. */
  release(): void;
}

interface SharedFilter {
  readonly matches: ReturnType<typeof recordMatcher>;
  uses: number;
  /** The turn of the last result. */
  turn: number;
  result: boolean;
}

/**
 * The filters of the node's streams. A feed hands a record to all streams in a row: the record is prepared once for all
 * filters, and streams with the same filter share its result.
 */
export class StreamFilters {
  readonly #filters = new Map<string, SharedFilter>();
  #record: Filterable | undefined;
  #subject: FilterSubject | undefined;
  /** Counts the records. */
  #turn = 0;

  /** The number of different filters. */
  get size(): number {
    return this.#filters.size;
  }

  use(filter: ContentFilter): StreamFilter {
    const key = JSON.stringify([filter.text, filter.priorityMin, filter.priorityMax, [...filter.tags].sort()]);
    const shared = this.#filters.get(key) ?? { matches: recordMatcher(filter), uses: 0, turn: -1, result: false };
    this.#filters.set(key, shared);
    shared.uses += 1;
    let isReleased = false;
    return {
      passes: (record) => this.#passes(shared, record),
      release: () => {
        if (isReleased) return;
        isReleased = true;
        shared.uses -= 1;
        if (shared.uses === 0) this.#filters.delete(key);
      },
    };
  }

  #passes(filter: SharedFilter, record: Filterable): boolean {
    if (record !== this.#record) {
      this.#record = record;
      this.#subject = new FilterSubject(record.content);
      this.#turn += 1;
    }
    if (filter.turn !== this.#turn) {
      filter.turn = this.#turn;
      filter.result = filter.matches(record.type, this.#subject!);
    }
    return filter.result;
  }
}
