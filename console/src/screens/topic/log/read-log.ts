import { call } from '../../../api/call.ts';
import type { LogRecord } from '../../../api/wire.ts';
import type { LogStart } from './log-start.ts';

/** Records per page. */
const pageSize = 50;

export interface LogPage {
  /** At most `pageSize`, by offset. */
  readonly records: readonly LogRecord[];
  /** The offset from which the page was read. */
  readonly from: number;
  /** The offset of the next page. */
  readonly next: number;
  readonly hasNext: boolean;
  /** The lowest offset that has a record; null if the log is empty. */
  readonly earliest: number | null;
  /**
   * For a page without records: the offset from which on no record exists. Other topics share the offsets, so it can be
   * higher than one more than the last record's.
   */
  readonly end: number | null;
}

interface Answer {
  readonly records: readonly LogRecord[];
  readonly next_offset: number;
}

const read = (topic: string, start: string, limit: number): Promise<Answer> =>
  call('GET', `/api/topics/${encodeURIComponent(topic)}/log?${start}&limit=${limit}`);

/** A time after every record: the log returns its end. */
const endOfTime = 'from_time=9999-12-31';

/** Resolves with the offset at which a reader starts: of the first record there, or the end of the log. */
export async function resolveStart(topic: string, start: LogStart): Promise<number> {
  switch (start.kind) {
    case 'beginning':
      return 0;
    case 'offset':
      return start.offset;
    case 'end':
      return (await read(topic, endOfTime, 1)).next_offset;
    case 'newest':
      return startBefore(topic, await resolveStart(topic, { kind: 'end' }));
    case 'time': {
      const { records, next_offset } = await read(topic, `from_time=${encodeURIComponent(start.time)}`, 1);
      return records[0]?.offset ?? next_offset;
    }
  }
}

/** Resolves with the page of records from the start. Throws CallFailed. */
export async function readPage(topic: string, start: LogStart): Promise<LogPage> {
  const from = await resolveStart(topic, start);
  const [page, first] = await Promise.all([
    read(topic, `from_offset=${from}`, pageSize + 1),
    read(topic, 'from_offset=0', 1),
  ]);
  const records = page.records.slice(0, pageSize);
  return {
    records,
    from,
    next: page.records[pageSize]?.offset ?? page.next_offset,
    hasNext: page.records.length > pageSize,
    earliest: first.records[0]?.offset ?? null,
    end: records.length > 0 ? null : await resolveStart(topic, { kind: 'end' }),
  };
}

/** Records per request of a search for the start of a page. */
const searchMax = 200;
/** A binary search over all offsets takes at most 53 rounds. */
const roundsMax = 60;
const spanMin = 64;
/** How much further back the search looks if the records do not fill a page. */
const spanGrowth = 8;

/**
 * Resolves with the offset of the first record of the page that ends before the offset `before`; 0 without one.
 * The log can only be read forward, and other topics share its offsets: looks further back until a page is full, then
 * halves the range if it has too many records for a request. `span` is the expected range of a page.
 */
export async function startBefore(topic: string, before: number, span = spanMin): Promise<number> {
  // The range from `few` to `before` has less than a page, the range from `many` more than a request returns.
  let [many, few] = [-1, before];
  let from = Math.max(0, before - Math.max(span, spanMin));
  for (let round = 0; round < roundsMax; round++) {
    const answer = await read(topic, `from_offset=${from}`, searchMax);
    const records = answer.records.filter(({ offset }) => offset < before);
    const isComplete = records.length < searchMax;
    if (isComplete && (records.length >= pageSize || from === 0))
      return (records.at(-pageSize) ?? records[0])?.offset ?? 0;
    if (isComplete) few = from;
    else many = from;
    from = many < 0 ? Math.max(0, before - (before - from) * spanGrowth) : Math.floor((many + few) / 2);
  }
  return from;
}
